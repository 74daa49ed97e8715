import { counted, formatCount } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/campaigns.ts";

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
  skippedCampaigns: (count) => `${counted(count, "kampanj", "kampanjer")} kan inte läsas och visas därför inte.`,
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

export const CARD: typeof en.CARD = {
  countedVolumes: (count) => counted(count, "volym", "volymer"),
  noPipeline: "pipeline saknar namn",
  pagesIn: (done, total) => `${done} av ${total} sidor`,
  inVolumes: (started, all) => ` i ${started} av ${all} volymer`,
  volumesStarted: (started, all) => `${started} av ${all} volymer`,
  started: " påbörjade",
  allDone: " klara",
  atGate: (waiting, all) => `, ${waiting} av ${all} volymer väntar på uppvärmningen`,
  noPageRead: "Ingen sida läst",
  noneStarted: (all) => `, 0 av ${all} volymer påbörjade`,
  pagesLost: (count, isOne) => `${count} ${isOne ? "sida" : "sidor"} kunde inte läsas`,
  loggedErrors: (count, isOne) => `${count} ${isOne ? "loggat" : "loggade"} fel`,
  loggedErrorsMean:
    "Rader med nivån ERROR i körloggarna. En sida som lästes vid ett senare försök räknas inte som misslyckad.",
  newestLost: (page) => `senast: ${page}`,
  volumesMeter: (done, all) => `${done} av ${all} volymer klara`,
  meterFailed: (count) => `, ${count} ${count === "1" ? "misslyckad" : "misslyckade"}`,
  meterActive: (count) => `, ${count} bearbetas`,

  timeLeft: (span) => `omkring ${span} kvar`,
  littleTimeLeft: "mindre än en minut kvar",
  endUnknown: "sluttiden inte känd än",
  standsStill: "står still",
  runningFor: (span) => `har pågått i ${span}`,
  notStarted: "inte startad",
  paused: "pausad",
  waitingFor: (span) => `har väntat i ${span}`,
  endedAgo: (age) => `slutade ${age}`,
  endNotRecorded: "sluttid saknas",
  createdAgo: (age) => `skapad ${age}`,
  took: (span) => `tog ${span}`,
  estimatedEnd: "Beräknat slut",
  startedAt: "Startad",
  createdAt: "Skapad",
  waitingSince: "Väntar sedan",
  endedAt: "Avslutad",

  failedAsCsv: "Misslyckade volymer som CSV",
  failedNotRead: (read, all) =>
    `Bara ${read} av ${all} misslyckade volymer kunde läsas, så ingen fil sparades. Försök igen om en stund.`,
  failedNotNamed: (named, all) =>
    `Kampanjens post namnger ${named} av dess ${all} misslyckade volymer. Filen innehåller dem.`,
  rowsAsCsv: "CSV",
  rowsAsCsvOf: (campaign) => `Spara de visade volymerna i ${campaign} som CSV`,
  print: "Skriv ut kampanjen",
  printOf: (campaign) => `Skriv ut kampanjen ${campaign}`,
  partOfRows: (read, all) => `Bara ${read} av ${all} volymer kunde läsas; de andra genomsöks inte.`,
  readingRows: (read, all) => `Läser alla volymer, ${read} av ${all}…`,

  searchVolumes: "Sök volymer",
  searchVolumesOf: (campaign) => `Sök bland volymerna i ${campaign}`,
  filterVolumes: "Visa volymer",
  noVolumeMatches: "Ingen volym matchar.",
  showOthers: (volumes) => `Visa ytterligare ${counted(volumes, "volym", "volymer")}`,
  state: "Tillstånd",
  latest: "Senaste",
  files: "Filer",
  manifestOf: (volume) => `Källmanifest för ${volume}`,
  noManifestOf: (volume) => `${volume} har inget källmanifest som en webbläsare kan öppna`,
  logOf: (volume) => `Körlogg för ${volume}`,
  noLogYetOf: (volume) => `Körlogg för ${volume}, finns inte förrän volymen startar`,
  pagesOf: (done, total) => `${done} av ${total}`,

  toVolumesOf: (campaign) => `Volymer och proveniens för ${campaign}`,
  volumesOf: (campaign) => `Volymer i ${campaign}`,
  problemsOf: (campaign) => `Problem i ${campaign}`,
  provenanceOf: (campaign) => `Proveniens för ${campaign}`,
  asOf: (time) => `läst ${time}`,
  figuresAreOf: (time) => `Siffrorna är från ${time}.`,
  moreVolumes: (next, all) => `Läs in ${next} till av ${all}`,
  volumeRange: (first, last, all) => `Volym ${first} till ${last} av ${all}`,
  nextVolumes: "nästa volymer",
  more: (count) => `${count} till`,
  fewer: "färre",
  volumes: "Volymer",
  pages: "Sidor",
  failed: (count) => `${count} ${count === "1" ? "misslyckad" : "misslyckade"}`,
  active: (count) => `${count} ${count === "1" ? "aktiv" : "aktiva"}`,
  countedIn: (read, started) => `räknade i ${read} av ${counted(started, "påbörjad volym", "påbörjade volymer")}`,
  pageOf: (page, volume) => `sida ${page} i ${volume}`,
  pipeline: "Pipeline",
  namespace: "Namnrymd",
  models: "Modeller:",
  unpinned: "utan låst version",
  pipelineYaml: "Pipelinens YAML",
  volume: "Volym",
  qualityColumn: "Kvalitet",
  quality: "kvalitet",
  lowestQuality: "lägst",
  loading: "Läser in…",
  runLog: "Körlogg",
  manifest: "Källmanifest",
  pagesPerMinute: (count) => `${count} sidor i minuten`,
  endedVolumes: (volumes) => counted(volumes, "avslutad volym", "avslutade volymer"),
  courseOf: (campaign) => `Förlopp för ${campaign}`,
  time: "Tid",
  volumesDone: "Klara volymer",
  volumesFailed: "Misslyckade volymer",
  pagesDone: "Klara sidor",
  segments: {
    all: "Alla",
    failed: "Misslyckade",
    active: "Aktiva",
    lost: "Ej lästa sidor",
    done: "Klara",
    waiting: "Väntar",
    unfinished: "Blev inte klara",
    unknown: "Okänt",
  },

  noVolumes: "Inga volymer är kända.",
  failedFile: "misslyckade",
  volumesFile: "volymer",
  shownFile: "visade-volymer",
  volumesGone: "Listan över kampanjens volymer finns inte kvar.",
  noMoreVolumes: "Det finns inga fler volymer.",
  pipelineGone: "Pipelinens dokument finns inte kvar.",
  noPages: "Volymens sidor kan inte öppnas än: inget manifest namnger dem.",
};

export const PROBLEMS: typeof en.PROBLEMS = {
  unexplained: "Volymen misslyckades. Ingen orsak registrerades.",
  notTriedAgain: "Inget nytt försök görs.",
  triedAgain: "Ett nytt försök kommer att göras.",
  forbidden: "Kontot får inte läsa den här volymen.",

  noWarmupHeld: (pipeline) =>
    `Det finns ingen uppvärmning av pipelinen ${pipeline}, och ingen volym startar förrän en har lyckats. Starta en.`,
  noWarmup: (pipeline) =>
    `Det finns ingen uppvärmning av pipelinen ${pipeline}, och pipelinens nästa kampanj väntar på en.`,
  warmupHolds: "Ingen volym startar förrän den lyckas: åtgärda orsaken och starta sedan uppvärmningen igen.",
  warmupHoldsNext: (pipeline) =>
    `Nästa kampanj med pipelinen ${pipeline} startar inte förrän den lyckas: åtgärda orsaken och starta sedan ` +
    "uppvärmningen igen.",
  warmupFailed: "Uppvärmningen misslyckades.",
  warmupFailedOf: (cause) => `Uppvärmningen misslyckades: ${cause}`,
  warmupDiskFull: "Uppvärmningen misslyckades: disken för modeller är full.",

  unreadableMessage: "Volymen avbröts med ett meddelande som inte kan läsas.",
  noMessage: "Volymen avbröts utan angiven orsak.",
  notSetUp: "Driftsättningen är inte inställd för det här arbetet",
  manifestUnread: "Volymens manifest kan inte läsas",
  modelNotReady: "Uppvärmningen förberedde inte modellen",
  failedWhile: (doing) => `Den misslyckades under steget ”${doing}”`,
  failed: "Den misslyckades",
  noPageGaveResult: "Ingen sida i volymen gav något resultat.",
  pagesMissing: (count, names) => `${counted(count, "sida", "sidor")} saknas${names}`,
  pagesWithoutResult: (count, names) => `${counted(count, "sida", "sidor")} utan resultat${names}`,
  andMore: (names, count) => `${names} och ${count} till`,
  checkFailed: (cause) => `Den misslyckades när resultaten kontrollerades: ${cause}`,

  clusterKeepsTrying: "Klustret fortsätter att försöka.",
  containerWaits: (reason) => `Containern startar inte: ${reason}`,

  campaignFailed: "Kampanjen misslyckades innan någon volym gjorde det.",
  notDone: (failed, unfinished) => {
    if (unfinished === 0) return `${counted(failed, "volym", "volymer")} misslyckades.`;
    const rest = `${failed === 0 ? counted(unfinished, "volym", "volymer") : formatCount(unfinished)} blev inte ${
      unfinished === 1 ? "klar" : "klara"
    }.`;
    return failed === 0 ? rest : `${counted(failed, "volym", "volymer")} misslyckades och ${rest}`;
  },
  runAgain: (count) => `Kör ${count === 1 ? "den" : "dem"} i en ny kampanj när orsaken är åtgärdad.`,
  campaignIsEnding: "Klustret håller på att avsluta kampanjen.",
  volumesFailed: (count) =>
    `${counted(count, "volym", "volymer")} misslyckades. Kör ${
      count === 1 ? "den" : "dem"
    } i en ny kampanj när den här ` +
    "är avslutad.",
  pageLost: (page, error) => `${page === null ? "En sida" : `Sida ${page}`} kunde inte läsas: ${error}`,
  stalled: (span, doing) =>
    `Ingen förändring${span === null ? "" : ` på ${span}`}${
      doing === null ? "" : ` i steget ”${doing}”`
    }: körloggen kan visa varför.`,
  ended: (age) => `Avslutad ${age}`,
  endUnknown: "Det är inte registrerat hur den slutade.",
  notFinished: "Kampanjen avslutades innan volymen var klar.",
};

export const STAGE_WORDS: typeof en.STAGE_WORDS = {
  setup: "läser manifestet",
  resume: "kontrollerar tidigare resultat",
  load: "laddar modellen",
  stream: "bearbetar sidor",
  verify: "kontrollerar resultat",
  publish: "publicerar resultat",
};

export const VOLUME_ENDS: typeof en.VOLUME_ENDS = {
  outOfMemory: "Minnet tog slut under arbetet med volymen.",
  outOfTime: "Tiden för arbetet med volymen tog slut.",
  stopped: "Klustret stoppade arbetet med volymen.",
  moved: "Klustret stoppade arbetet med volymen för att frigöra resurser.",
  machineLost: "Maskinen som arbetade med volymen stängdes av eller försvann.",
  noImage: "Containeravbildningen för arbetet med volymen kunde inte hämtas.",
  notStarted: "Containern för arbetet med volymen kunde inte startas.",
  brokeOff: (code) => `Arbetet med volymen avbröts med ett fel (slutkod ${code}).`,
};

export const WARMUP_ENDS: typeof en.WARMUP_ENDS = {
  outOfMemory: "Minnet tog slut under uppvärmningen.",
  outOfTime: "Tiden för uppvärmningen tog slut.",
  stopped: "Klustret stoppade uppvärmningen.",
  moved: "Klustret stoppade uppvärmningen för att frigöra resurser.",
  machineLost: "Maskinen som körde uppvärmningen stängdes av eller försvann.",
  noImage: "Containeravbildningen för uppvärmningen kunde inte hämtas.",
  notStarted: "Containern för uppvärmningen kunde inte startas.",
  brokeOff: (code) => `Uppvärmningen avbröts med ett fel (slutkod ${code}).`,
};

export const JOB_ENDINGS: typeof en.JOB_ENDINGS = {
  DeadlineExceeded: "Tiden för hela kampanjen tog slut.",
  MaxFailedIndexesExceeded: "Fler volymer misslyckades än kampanjen tillåter, så klustret stoppade den.",
  BackoffLimitExceeded: "Fler försök misslyckades än kampanjen tillåter, så klustret stoppade den.",
  PodFailurePolicy: "En volym misslyckades på ett sätt som enligt kampanjens regler avslutar hela kampanjen.",
  FailedIndexes: "Alla volymer har prövats, och några misslyckades vid varje försök.",
  SuccessPolicy: "Kampanjen avslutades så snart villkoret för att lyckas var uppfyllt.",
  other: (reason) => `Klustret avslutade kampanjen: ${reason}`,
};

export const WAITING_WORDS: typeof en.WAITING_WORDS = {
  suspended: "Pausad manuellt: återuppta jobbet för att fortsätta",
  queue: "Väntar på sin tur i kön",
  quota: "Väntar tills kön har kvot kvar",
  warmup: "Väntar på sin uppvärmning",
  unschedulable: "Ingen maskin har plats för dess poddar",
  "no-pods": "Klustret har inte startat någon podd för den",
  paused: (count) =>
    count === 0
      ? "Pausad."
      : `Pausad. ${counted(count, "volym", "volymer")} är inte ${count === 1 ? "startad" : "startade"}.`,
  other: (reason) => `Väntar: ${reason}`,
};

export const CAMPAIGN_CHIPS: typeof en.CAMPAIGN_CHIPS = {
  jobRemoved: "jobbet borttaget",
  jobRemovedTitle: "Klustret har tagit bort det avslutade jobbet; posten om det finns kvar.",
  noWarmup: "ingen uppvärmning",
  warmup: {
    pending: "uppvärmning väntar",
    running: "uppvärmning pågår",
    failed: "uppvärmning misslyckad",
  },
  partiallySucceeded: "delvis klar",
  phases: {
    Running: "pågår",
    Succeeded: "klar",
    PartiallyFailed: "delvis misslyckad",
    Failed: "misslyckad",
    Unknown: "utfall okänt",
    Queued: "i kö",
    Paused: "pausad",
  },
};

export const VOLUME_CHIPS: typeof en.VOLUME_CHIPS = {
  active: "aktiv",
  stalled: "står still",
  stalledTitle: "Aktiv, men utan förändring",
  done: "klar",
  doneWithLost: (count) => `klar, ${counted(count, "sida ej läst", "sidor ej lästa")}`,
  failed: "misslyckad",
  waiting: "väntar",
  unfinished: "blev inte klar",
  unknown: "okänt",
};

export const CSV_COLUMNS: typeof en.CSV_COLUMNS = {
  volume: "volym",
  index: "nummer",
  state: "tillstånd",
  pagesDone: "klara sidor",
  pages: "sidor",
  pagesLost: "ej lästa sidor",
  quality: "kvalitet",
  known: "vad som är känt",
  reported: "rapporterat",
  updatedAt: "uppdaterad",
  sourceManifest: "källmanifest",
  manifest: "publicerat manifest",
  runLog: "körlogg",
};

export const PIPELINE_STEPS: typeof en.PIPELINE_STEPS = {
  segmentation: "Segmentering",
  wordsegmentation: "Ordsegmentering",
  imageclassification: "Bildklassificering",
  readingorder: "Läsordning",
  orderlines: "Radordning",
  textrecognition: "Textigenkänning",
  qualityprediction: "Kvalitetsskattning",
  export: "Export",
};
