import { counted, formatCount } from "@/lib/presentation/locale/figures.ts";
import type * as en from "@/locales/en/problems.ts";

export const PROBLEMS: typeof en.PROBLEMS = {
  unexplained: "Volymen misslyckades, och ingenting finns kvar som säger varför.",
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
  modelNotReady: "Modellen gjordes inte klar av uppvärmningen",
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
  suspended: "Pausad för hand: återuppta dess Job för att fortsätta",
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
  running: "pågår",
  succeeded: "klar",
  partiallySucceeded: "delvis klar",
  partiallyFailed: "delvis misslyckad",
  failed: "misslyckad",
  unknown: "utfall okänt",
  queued: "i kö",
  paused: "pausad",
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
