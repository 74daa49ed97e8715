import { counted, formatCount } from "@/lib/presentation/locale/figures.ts";
import type * as en from "@/locales/en/board.ts";

/** Names that are read out one by one. */
const MAX_NAMED = 3;

export const BOARD_SENTENCES: typeof en.BOARD_SENTENCES = {
  introduction:
    "Stackroom läser skannade volymer maskinellt och lagrar texten bredvid bilderna. En kampanj är en omgång volymer " +
    "(inbundna arkivhandlingar, som var och en är en lista med sidbilder) som bearbetas av en pipeline, en bestämd " +
    "följd av lässteg och modeller.",
  noCluster:
    "Den här webbplatsen visar bara sidor och resultat. Den följer inget kluster och har därför ingen lista över kampanjer.",
  notCounted:
    "En pågående kampanj räknas när dess kort har visats i några minuter. En kampanj som saknar sin uppvärmning räknas inte.",
  readElsewhere: "Körloggar, sidtexter och volymer öppnas via länkar till dem.",
  outage: (readAt, nextAt) =>
    (readAt === null ? "" : ` Listan är från ${readAt}.`) + (nextAt === null ? "" : ` Nästa försök ${nextAt}.`),
  stale: (since) => `Klustret har inte svarat sedan ${since}, så listan är från då.`,
  troubled: (names) =>
    names.length > MAX_NAMED
      ? `Ytterligare ${counted(names.length, "kampanj", "kampanjer")} behöver åtgärdas.`
      : `${names.join(", ")} behöver åtgärdas.`,
};

export const BOARD_LABELS: typeof en.BOARD_LABELS = {
  introduction: "Vad är Stackroom?",
  closeIntroduction: "Stäng och visa inte igen",
  figures: "Alla kampanjer just nu",
  unknown: "–",
  filter: "Filter och ordning för kampanjerna",
  pipeline: "Pipeline",
  anyPipeline: "Alla pipelines",
  namespace: "Namnrymd",
  anyNamespace: "Alla namnrymder",
  order: "Ordning",
  apply: "Använd",
  showAll: (all) => `Visa alla ${all}`,
  tryNow: "Försök nu",
  trying: "Försöker…",
  shortcuts: "Kortkommandon",
  previousPage: "Föregående kampanjer",
  nextPage: "Nästa kampanjer",
  pages: "Fler kampanjer",
};

export const SEGMENT_WORDS: typeof en.SEGMENT_WORDS = {
  all: "Alla",
  trouble: "Att åtgärda",
  running: "Pågår",
  waiting: "Väntar",
  finished: "Avslutade",
};

export const SORT_WORDS: typeof en.SORT_WORDS = {
  state: "Efter tillstånd",
  newest: "Nyast först",
  name: "Efter namn",
  end: "Efter beräknat slut",
};

export const FIGURE_WORDS: typeof en.FIGURE_WORDS = {
  troubled: (count) => count === 0 ? "att åtgärda" : "behöver åtgärdas",
  running: (activeVolumes, troubled) =>
    `pågår, ${counted(activeVolumes, "volym", "volymer")} bearbetas${
      troubled > 0 ? `, ${troubled} behöver åtgärdas` : ""
    }`,
  pagesPerMinute: (isKnown, of) => `sidor i minuten${asFarAsKnown(isKnown, of)}`,
  end: (isKnown, of) =>
    `alla pågående klara${isKnown && of.counted === of.of ? ", beräknat" : asFarAsKnown(isKnown, of)}`,
};

function asFarAsKnown(isKnown: boolean, { counted, of }: en.CountedCampaigns): string {
  if (!isKnown) return ", inte känt än";
  return counted === of ? "" : `, ${formatCount(counted)} av ${formatCount(of)} räknade`;
}

export const LIST_KEY_WORDS: typeof en.LIST_KEY_WORDS = {
  filter: "Sök namn eller pipeline",
  next: "Nästa kampanj",
  previous: "Föregående kampanj",
  fold: "Öppna eller fäll ihop kampanjen",
  help: "De här kortkommandona",
};
