import type * as en from "@/locales/en/storage_audit.ts";
import { counted } from "@/lib/pages/locale/figures.ts";

export const LABELS: typeof en.LABELS = {
  trail: "Händelselogg",
  filter: "Urval",
  filtered: "Urval (används)",
  apply: "Visa de här händelserna",
  all: "Visa alla händelser",
  start: "Från (UTC)",
  end: "Före (UTC)",
  actor: "Vem: kontots namn",
  action: "Vad",
  anything: "vad som helst",
  bucket: "Bucket",
  prefix: "Nycklar som börjar med",
  result: "Utfall",
  any: "vilket som helst",
  request: "Anropets id",
  tenant: "Organisation (tenant)",
  records: "Händelser",
  time: "När (UTC)",
  who: "Vem",
  target: "Med vad",
  details: "Detaljer",
  next: "Äldre händelser",
  newest: "De nyaste händelserna",
  export: "Händelserna",
  csv: "CSV",
  ndjson: "NDJSON",
  nobody: "inte inloggad",
  unknown: "–",
  status: "Statuskod",
  version: "Version",
  source: "Antecknad av",
  ofStore: "lagret",
};

export const ACTIONS: typeof en.ACTIONS = {
  login: "loggade in",
  login_failed: "inloggningen misslyckades",
  logout: "loggade ut",
  object_write: "skrev ett objekt",
  object_copy: "kopierade ett objekt",
  object_restore: "återställde en version",
  object_delete: "tog bort",
  object_tags: "ändrade taggar",
  object_acl: "ändrade vem som når ett objekt",
  object_share: "delade med en länk",
  object_prune: "gamla versioner togs bort",
  bucket_create: "skapade en bucket",
  bucket_settings: "ändrade en buckets inställningar",
  bucket_acl: "ändrade vem som når en bucket",
  bucket_delete: "tog bort en bucket",
  account_create: "skapade ett konto",
  account_change: "ändrade ett konto",
  account_delete: "tog bort ett konto",
  password_change: "bytte ett lösenord",
  group_create: "skapade en grupp",
  group_change: "ändrade en grupp",
  group_delete: "tog bort en grupp",
  permissions_change: "ändrade behörigheter",
  tenant_create: "skapade en tenant",
  tenant_settings: "ändrade en tenants inställningar",
  tenant_delete: "tog bort en tenant",
  content_class_create: "skapade en innehållsklass",
  content_class_change: "ändrade en innehållsklass",
  content_class_delete: "tog bort en innehållsklass",
  task_start: "startade en uppgift",
  task_cancel: "avbröt en uppgift",
  task_end: "en uppgift blev klar",
  audit_export: "exporterade händelseloggen",
  audit_gap: "händelser gick förlorade",
};

export const RESULTS: typeof en.RESULTS = {
  succeeded: "gjort",
  refused: "nekat",
  failed: "misslyckat",
};

export const KINDS: typeof en.KINDS = {
  objects: "objekt",
  session: "sessionen",
  task: "en uppgift",
  trail: "loggen",
};

export const SENTENCES: typeof en.SENTENCES = {
  whatItIs: "Vem som har loggat in och vem som har ändrat vad, det nyaste först. Varje händelse har sitt anrops id.",
  none: "Ingen händelse passar urvalet.",
  nothing: "Det finns inga händelser än.",
  searched: (moment) => `Genomsökt tillbaka till ${moment}. Äldre händelser kan passa.`,
  shown: (records) => counted(records, "händelse", "händelser"),
  noApplication: "Servern har inga händelser som kan läsas här.",
  forbidden:
    "Bara en tenants administratörer och säkerhetsansvariga får läsa dess händelselogg. Be en administratör om rollen " +
    "ADMINISTRATOR eller SECURITY, eller om en export.",
  otherTenant: "Bara en tenants egna administratörer och konton på systemnivå får läsa dess händelser.",
  unsupported:
    "Lagret har inga konton med roller, så servern kan inte veta vem som är administratör. Fråga serverns driftansvariga " +
    "vart händelserna skickas.",
  missing: "Servern har ingen händelselogg.",
  noTime: (field) => `”${field}” är ingen tid. Skriv den som 2026-11-27T14:30.`,
  wrong: (message) => `Urvalet kan inte användas: ${message}`,
};
