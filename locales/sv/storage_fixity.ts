import type * as en from "@/locales/en/storage_fixity.ts";
import { CODED } from "./coded.ts";
import { counted, formatCount, formatDecimal } from "@/lib/pages/locale/figures.ts";

/** “Objekt” is the same in singular and plural. */
const objects = (count: number) => `${formatCount(count)} objekt`;

export const LABELS: typeof en.LABELS = {
  fixity: "Fixitetskontroller",
  checkOf: (place) => `Fixitetskontroll av ${place}`,
  checkOfAll: (bucket) => `Fixitetskontroll av hela ${bucket}`,
  allOf: (bucket) => `Hela ${bucket}`,
  newCheck: "Ny kontroll",
  checksOf: "Kontroller av bucketen",
  showChecks: "Visa dess kontroller",
  start: "Starta kontrollen",
  more: "Fler val: manifest, bagar, tidigare kontroller, en rapport och hur fort",
  compareWith: "Jämför med",
  noBaseline: "ingen",
  atTheEnd: "Skriv till sist",
  how: "Hur den läser",
  compareAgain: "Jämför en ny kontroll med den här",
  schedules: "Scheman",
  cancel: "Avbryt kontrollen",
  again: "Kontrollera igen",
  older: "Äldre kontroller",
  newest: "De nyaste kontrollerna",
  csv: "CSV",
  json: "JSON",
  download: "Rapport",
  objects: "Objekt",
  object: "Objekt",
  result: "Resultat",
  comparedWith: "Jämfört med",
  provedBy: "Oskadade enligt",
  size: "Storlek",
  filter: "Visa objekt efter resultat",
  nextRows: "Nästa objekt",
  firstRows: "De första objekten",
  digests: "Kontrollsummor",
  expected: "ska vara",
  actual: "är",
  inManifest: "Manifest",
  bag: "Bag",
  written: "Skrivet",
  schedule: "Schema",
  where: "Kontrollerat",
  options: "Val",
  time: "När",
  next: "Nästa",
  last: "Senaste kontrollen",
  of: "av",
  never: "ingen än",
  damaged: "skadat",
  all: "alla",
};

export const FIELDS: typeof en.FIELDS = {
  bucket: "Bucket",
  prefix: "Bara nycklar som börjar med",
  manifest: "Nyckeln till ett manifest",
  manifest_bucket: "Dess bucket, om en annan",
  manifest_root: "Dess sökvägar börjar vid",
  bag: "En bag (BagIt): alla dess manifest",
  baseline: "Tidigare kontroll",
  etags: "Jämför inte ETag:ar",
  report_to: "Rapport: nycklarna börjar med",
  rate: "Högst, i MB per sekund",
  all_versions: "Äldre versioner också",
  full: "En rad för oskadade objekt också",
};

export const STATES: typeof en.STATES = {
  processing: "pågår",
  intact: "inga skador",
  damaged: "skador",
  invalidBag: "bagen är inte giltig",
  nothing: "inga objekt",
  canceled: "avbruten",
  failed: "misslyckad",
};

export const RESULTS: typeof en.RESULTS = {
  changed: "ändrat",
  missing: "saknas",
  unreadable: "oläsligt",
  unproven: "inget att jämföra med",
  not_in_manifest: "inte i manifestet",
  deleted: "borttaget under tiden",
  intact: "oskadat",
};

export const PROOFS: typeof en.PROOFS = {
  checksum: "lagrad kontrollsumma",
  checksum_of_parts: "lagrad kontrollsumma av delarna",
  etag: "ETag:en",
  etag_of_parts: "ETag:en av delarna",
  manifest: "manifestet",
  baseline: "en tidigare kontroll",
};

export const SENTENCES: typeof en.SENTENCES = {
  whatItIs:
    "En kontroll läser lagrade objekt i sin helhet och jämför deras innehåll med kontrollsumman som lagrades med dem, " +
    "med deras ETag eller med ett manifest.",
  rootNote: "Tomt: dess egen mapp. Ett snedstreck: bucketens början.",
  ofObjects: objects,
  none: "Det finns inga kontroller än.",
  noneOf: (bucket) => `Kontot har inga kontroller av ${bucket}.`,
  typeBucket: "Kontot får inte lista bucketar. Skriv namnet på en för att se dess kontroller.",
  noSuchName: "Ingen bucket kan ha det namnet.",
  systemLevel: "Ett konto på systemnivå har inga bucketar och därmed inget att kontrollera.",
  someBuckets: (count) =>
    `Bara de första ${formatCount(count)} bucketarna gås igenom. Skriv namnet på en annan för att se dess kontroller.`,
  notRead: (count) =>
    `Kontrollerna av ${counted(count, "bucket", "bucketar")} kunde inte läsas. Läs in sidan igen om en stund.`,
  intact: (intact, base) => `${formatCount(intact)} av ${objects(base)} oskadade`,
  nothing: "Det fanns inget objekt att kontrollera",
  read: (files, bytes) => `${objects(files)} lästa hittills, ${bytes}`,
  readOf: (files, expected, bytes) => `${formatCount(files)} av ungefär ${objects(expected)} lästa, ${bytes}`,
  rate: (bytes) => `${bytes} per sekund`,
  noneRead: "Inget objekt lästes",
  soon: "mindre än en minut kvar",
  left: (span) => `ungefär ${span} kvar`,
  runningFor: (span) => `har pågått ${span}`,
  took: (span) => `tog ${span}`,
  damage: (damaged, base) =>
    `${formatCount(damaged)} av ${objects(base)} ${damaged === 1 ? "är skadat" : "är skadade"}. Återställ ` +
    `${damaged === 1 ? "det" : "dem"} från en äldre version eller en annan kopia och kontrollera sedan igen.`,
  unprovenObjects: (count) =>
    `${objects(count)} lästes i sin helhet, men det finns inget som innehållet kan jämföras med.`,
  otherEtags: "Lagrets ETag:ar är inte MD5, så en som skiljer sig bevisar inget.",
  failed: (error) => `Kontrollen misslyckades: ${error}. Starta den igen.`,
  failedUnknown: "Kontrollen misslyckades. Starta den igen.",
  canceled: "Kontrollen avbröts. Siffrorna gäller det som då hade lästs.",
  rowsLeftOut: (count) => `Ytterligare ${objects(count)} räknades men finns inte i listan: en rapport har en gräns.`,
  rowsGone: "Listan över objekt sparas i 30 dagar och är borta. Antalen finns kvar. Kontrollera igen för en ny lista.",
  noRows: "Alla objekt är oskadade, så inget listas.",
  rowsAtEnd: "Objekten listas när kontrollen är klar.",
  noneOfResult: "Inget objekt i listan har det resultatet.",
  searched: (rows) => `${counted(rows, "rad genomsökt", "rader genomsökta")} utan träff.`,
  gone:
    "Kontot har ingen sådan kontroll i den här bucketen. Antalen sparas i 400 dagar, för de senaste 20 kontrollerna.",
  otherVersion: "Kontrollen startades av en annan version av servern och kan inte längre läsas. Starta den igen.",
  bagValid: "Bagen är giltig.",
  bagInvalid: "Bagen är inte giltig:",
  manifestLines: (count) => `${counted(count, "rad", "rader")} sammanlagt`,
  manifestEntries: (count) => `nämner ${objects(count)}`,
  invalidLines: (count) => `${counted(count, "rad", "rader")} i det kan inte läsas`,
  writeError: (error) => `Allt kunde inte skrivas: ${error}`,
  versionOf: (version) => `versionen ${version}`,
  atMost: (rate) => `högst ${rate}`,
  proved: (count, proof) => `${proof} (${objects(count)})`,
  scheduleAt: (cron, zone) => `${cron} (i ${zone})`,
  scheduleError: (error) => `Den senaste kontrollen kunde inte startas: ${error}`,
  lastCheck: (files, damaged) => `${objects(files)} lästa, ${formatCount(damaged)} skadade`,
  othersNotRead: "Andra kontons scheman kunde inte läsas. Läs in sidan igen om en stund.",
  notCurrent: "Ingen anslutning till servern, så siffrorna är inte aktuella. De läses igen automatiskt.",
  hasEnded: (place) => `Kontrollen av ${place} är klar.`,
  damageIn: (count) => `${counted(count, "kontroll", "kontroller")} med skador`,
  runningChecks: (count) => `${counted(count, "kontroll", "kontroller")} pågår`,
  endedChecks: (count) => counted(count, "avslutad kontroll", "avslutade kontroller"),
};

export const START_PROBLEMS: typeof en.START_PROBLEMS = {
  noBucket: "Skriv bucketens namn.",
  rate: (least) =>
    `Takten är ett tal på minst ${
      formatDecimal(least, 1)
    } MB per sekund. Lämna fältet tomt för så fort som servern tillåter.`,
  missing: "Det finns ingen bucket med det namnet.",
  forbidden: "Kontot får inte lista den här bucketen, så inget kan kontrolleras. Bucketens ägare kan tillåta det.",
  tooMany: "För många uppgifter pågår. Starta kontrollen när någon av dem är klar.",
  said: (field, message) => `Ogiltigt värde för ”${field}”: ${message}`,
  other: (message) => `Kontrollen startades inte. Servern säger: ${message}`,
};

export const ALL_CODED: typeof en.ALL_CODED = {
  ...CODED,
  origin_scheme:
    "Inloggningen nekades: webbläsaren och servern är inte överens om ifall sajten använder http eller https. Om adressen är den vanliga måste sajtens proxy skicka huvudet X-Forwarded-Proto, och TRUSTED_HOPS måste räkna med proxyn.",
  origin_host:
    "Inloggningen nekades: servern känner sajten under ett annat namn än webbläsaren. Om adressen är den vanliga måste sajtens proxy skicka huvudet Host vidare.",
  object_forbidden: "Inloggningen får inte läsa det",
  object_overwritten: "Det skrevs över varje gång det lästes",
  object_parts_unknown: "Lagret anger inte dess delar",
  object_etags_unknown: "Inget annat objekt visar om lagrets ETag:ar är MD5",
  object_etags_not_md5: "Lagrets ETag:ar är inte MD5",
  object_versions_too_many: "Lagret hittar det inte, och listar för många versioner för att leta efter det",
  object_listed_not_found: "Lagret listar det men hittar det inte",
  object_in_manifest: "Manifestet nämner det",
  object_in_baseline: "Det fanns vid den tidigare kontrollen",
  object_replaced:
    "Innehållet är som det lagrades: det har skrivits över sedan dess, eller så gäller jämförelsen annat innehåll",
  object_wrong_length: "Lagret skickar ett annat antal byte än det anger",
  object_broken_off: "Läsningen avbryts varje gång",
  bag_declaration_invalid: "bagit.txt anger inte version och teckenkodning enligt BagIt",
  bag_algorithm_unknown: "{name} jämförs inte: dess algoritm är inte känd här",
  bag_manifests_too_many: "{name} jämförs inte: det finns för många manifest",
  bag_without_manifest: "Bagen har inget manifest över innehållet som kan jämföras",
  bag_oxum_invalid: "bag-info.txt anger inte Payload-Oxum enligt BagIt",
  bag_oxum_differs: "Payload-Oxum anger {files} filer med {bytes} byte: det finns {found_files} med {found_bytes} byte",
  bag_manifest_invalid_lines: "{name} har {lines} rader som inte anger någon fil i bagen",
  bag_manifest_fewer_files: "{name} nämner {files} filer, ett annat manifest över innehållet {most}",
  manifest_overwritten: "Manifestet ”{key}” skrevs över medan kontrollen pågick: starta kontrollen igen",
  manifest_deleted: "Manifestet ”{key}” togs bort medan kontrollen pågick",
  not_written_name: "Inget manifest gjordes: program skulle läsa namnet på objektet ”{key}” som namnet på en annan fil",
  not_written_exists: "{keys} finns redan med annat innehåll",
  field_without_other: "valet har ingen betydelse utan det fält som det hör till",
  manifest_with_bag: "en bag har egna manifest: välj bara det ena",
  manifest_algorithm_unknown: "namnet anger en annan algoritm än md5, sha1, sha256 och sha512",
  manifest_not_found: "det finns inget objekt ”{key}” i bucketen ”{bucket}”",
  bag_prefix: "för en bag är fältet tomt eller slutar med ett snedstreck",
  bag_not_found: "det finns inget objekt ”{key}”, så det är ingen bag",
  versions_not_compared: "manifest och tidigare kontroller säger inget om äldre versioner: välj bort dem",
  baseline_not_found: "kontot har ingen sådan kontroll i den här bucketen",
  baseline_running: "den kontrollen är inte klar än",
  baseline_incomplete:
    "den kontrollen har inte en rad för varje objekt: den behöver rader för oskadade objekt och inga äldre versioner",
  baseline_gone: "raderna i den kontrollen finns inte längre",
  report_rows_gone: "Raderna i rapporten finns inte längre: de sparas i 30 dagar, antalen i 400",
};

export const INVALID_FIELDS: typeof en.INVALID_FIELDS = {
  missing: "värdet saknas",
  enum: "värdet är inte ett av de tillåtna",
  string_pattern_mismatch: "värdet har inte rätt form",
  string_type: "värdet ska vara en text",
  int_type: "värdet ska vara ett heltal",
  string_too_short: "texten ska ha minst {min_length} tecken",
  string_too_long: "texten får ha högst {max_length} tecken",
  greater_than_equal: "värdet ska vara minst {ge}",
  less_than_equal: "värdet ska vara högst {le}",
};
