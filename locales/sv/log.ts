import { counted, formatCount } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/log.ts";

export const LOG_SENTENCES: typeof en.LOG_SENTENCES = {
  waiting: "Loggen visas här när arbetaren har laddat upp sina första rader, omkring 15 sekunder efter start.",
  logTooLarge: "Loggen är för stor för att visas här. Öppna dess råtext.",
  noLog: "Det finns ingen logg på den här adressen: ingen arbetare har laddat upp någon.",
  stopped: "Loggen kunde inte läsas 20 gånger i rad och följs därför inte längre.",
  quiet:
    "Ingen rad har tillkommit på 15 minuter och loggen saknar slut, så den följs inte längre. En arbetare som klustret stoppar, till exempel vid en tidsgräns, skriver inget slut; kampanjen anger orsaken.",
  lineGone: "Raden som adressen anger finns inte i loggen.",
  lineLater: "Raden som adressen anger finns inte i loggen än.",
  noLines: "Ingen rad i loggen har den här nivån.",
  emptyLog: "Loggen är tom.",
  linkCopied: (number) => `Länken till rad ${number} är kopierad`,
  linkNotCopied: "Webbläsaren tillät inte kopiering; sidans adress anger nu raden.",
  lineShortened: (count) => ` … ${count} tecken till, i råtexten`,
  linesOf: (first, last) => `Rad ${first} till ${last}`,
  noLogNamed: "Ingen logg är angiven: öppna en från dess volym i listan över kampanjer.",
  readingLog: "Läser loggen…",
  logRetried: "Ett nytt försök görs var 15:e sekund.",
  logShortened: "Början av loggen är utelämnad.",
  readingRunManifest: "Läser körningens sammanfattning…",
  runManifestLater: "Sammanfattningen av sidorna visas här när körningen är klar.",
  noRunManifest: "Körningen har inte skrivit något manifest, så det finns ingen sammanfattning av dess sidor.",
  runWithoutPages: "Körningens manifest namnger inga sidor.",
  moreLostPages: "De övriga finns i tabellen, först när den är ordnad efter kvalitet.",
  pageGrid: "Högre staplar tog längre tid; färgen är den beräknade kvaliteten.",
  logNeedsScripts: "Visaren behöver skript; det gör inte råtexten.",
};

export const LOG_LABELS: typeof en.LOG_LABELS = {
  viewPages: "Visa sidor",
  search: "Sök i loggen",
  previousHit: "Föregående träff",
  nextHit: "Nästa träff",
  hits: (count) => counted(count, "rad", "rader"),
  hitOf: (place, count) => `${place} av ${count}`,
  noHits: "ingen rad",
  level: "Nivå",
  levels: { all: "Alla", debug: "Debug", info: "Info", warning: "Varningar", error: "Fel" },
  sinceStart: "Tider sedan start",
  clockOfLog: "Tider enligt loggens egen klocka",
  clockSinceStart: "Tider sedan loggens början",
  unfoldAll: "Fäll ut alla",
  foldAll: "Fäll ihop alla",
  followAgain: "Följ igen",
  pages: "sidor",
  tookSoFar: "sedan start",
  toReadLogs: "för att läsa körloggar.",
  quality: "kvalitet",
  lowestQuality: "lägst",
  state: "Tillstånd",
  runLog: "Körlogg",
  runLogOf: (volume) => `${volume} · Körlogg`,
  line: (number) => `Rad ${number}`,
  followEnd: "Följ slutet",
  rawText: "Råtext",
  showWholeLog: "Visa hela loggen",
  runTotals: "Summor för körningen",
  took: "tidsåtgång",
  pagesRead: "lästa sidor",
  readEarlierBy: (count) => `${count} av dem av en tidigare körning`,
  of: (all) => `av ${all}`,
  pagesLost: "sidor som inte kunde läsas",
  medianSeconds: "sekunder per sida, median",
  p95Seconds: "95 % av sidorna inom",
  pageSummary: "Sammanfattning av sidorna",
  toLog: "Till loggen",
  lostPages: (count) => `Sidor som inte kunde läsas: ${count}`,
  slowestPages: "Långsammaste sidorna",
  allPages: (count) => `Alla ${count} sidor`,
  pagesAsTable: "Sidorna som tabell",
  showOthers: (count) => `Visa ytterligare ${count}`,
  files: "Filer",
  pageLost: "ej läst",
  pageRead: "läst",
  pageReadEarlier: "läst tidigare",
  text: "text",
  textOf: (page) => `text för sida ${page}`,
  image: "bild",
  imageOf: (page) => `källbild för sida ${page}`,
};

export const STAGE_TITLES: typeof en.STAGE_TITLES = {
  config: "Inställningar",
  warmup: "Väntar på uppvärmningen",
  setup: "Läser manifestet",
  resume: "Kontrollerar tidigare resultat",
  load: "Laddar modellen",
  stream: "Bearbetar sidor",
  verify: "Kontrollerar resultat",
  publish: "Publicerar resultat",
};

export const LOG_FIGURES: typeof en.LOG_FIGURES = {
  lines: (count) => counted(count, "rad", "rader"),
  warnings: (count) => counted(count, "varning", "varningar"),
  errors: (count) => counted(count, "fel", "fel"),
  requests: (count) => counted(count, "förfrågan", "förfrågningar"),
  hits: (count) => counted(count, "träff", "träffar"),
  allAnswered: (status) => `, alla med svar ${status}`,
  answered: (count, status) => `${formatCount(count)} ${status === null ? "utan status" : `med svar ${status}`}`,
  medianApart: (seconds) => `, i median ${seconds} emellan`,
};

export const OUTCOMES: typeof en.OUTCOMES = {
  finished: "klar",
  failed: "misslyckad",
  stopped: "följs inte längre",
  waiting: "väntar på de första raderna",
  attemptFailed: "försöket misslyckades",
  anotherFollows: "försöket misslyckades, ett nytt följer",
  live: "pågår",
  noEnding: "slut saknas i loggen",
};

export const RUN_WORDS: typeof en.RUN_WORDS = {
  unreadable: "Körningens sammanfattning kan inte visas: manifestet är inte giltigt.",
  page: (name, facts) => facts === "" ? `Sida ${name}` : `Sida ${name}: ${facts}`,
  lost: "ej läst",
  readEarlier: "läst av en tidigare körning",
  quality: (quality) => `kvalitet ${quality}`,
};

export const QUALITY_STEP_WORDS: typeof en.QUALITY_STEP_WORDS = {
  high: "kvalitet 0,90 och högre",
  medium: "0,70 till 0,89",
  low: "under 0,70",
  unscored: "ingen kvalitet beräknad",
  lost: "ej läst",
};

export const PAGE_ORDER_WORDS: typeof en.PAGE_ORDER_WORDS = {
  page: "Sida",
  seconds: "Sekunder",
  quality: "Kvalitet",
};
