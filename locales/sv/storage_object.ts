import type * as en from "@/locales/en/storage_object.ts";
import { counted } from "@/lib/pages/locale/figures.ts";

export const LABELS: typeof en.LABELS = {
  content: "Innehåll",
  versions: "Versioner",
  share: "Dela",
  tags: "Taggar",
  openPdf: "Öppna PDF-filen på en ny flik",
  openManifest: "Öppna i manifestvisaren",
  asText: "Objektets text",
  asTable: "Objektet som tabell",
  row: (number) => `Rad ${number}`,
  current: "Gällande version",
  older: "Äldre version",
  deleted: "Borttaget",
  deletedNow: "Borttaget: objektet finns inte längre i listan",
  shownHere: "visas här",
  toCurrent: "Till den gällande versionen",
  restore: "Återställ",
  restoreOf: (moment) => `Återställ versionen från ${moment}`,
  compare: "Jämför",
  compareOf: (moment) => `Jämför versionen från ${moment} med den gällande`,
  comparedOf: (moment) => `Ändringar sedan versionen från ${moment}`,
  comparison: "Ändringar",
  lineBefore: "Rad före",
  lineAfter: "Rad efter",
  change: "Ändring",
  line: "Rad",
  close: "Stäng",
};

export const SENTENCES: typeof en.SENTENCES = {
  empty: "Objektet är tomt.",
  unknown: "Objekt av det här slaget visas inte här. Ladda ner det för att öppna det.",
  binaryByType: (type) =>
    `Enligt typen (${type}) är objektet text, men innehållet är det inte. Ladda ner det för att öppna det.`,
  binaryByName: "Enligt namnet är objektet text, men innehållet är det inte. Ladda ner det för att öppna det.",
  encoded: "Objektet är lagrat i komprimerad form och visas inte här. Ladda ner det för att öppna det.",
  unreadable: "Innehållet kunde inte läsas just nu. Ladda om sidan för att försöka igen.",
  hiddenImage: (format) => `Webbläsare visar inte bilder i formatet ${format}. Ladda ner bilden för att öppna den.`,
  imageSize: (width, height) => `${width} × ${height} bildpunkter`,
  noImageSize: "Filhuvudet kan inte läsas, så storleken i bildpunkter är okänd.",
  firstBytes: (size) => `Bara de första ${size} visas.`,
  firstRows: (count) =>
    count === 1 ? "Bara den första raden visas." : `Bara de första ${counted(count, "", "raderna")} visas.`,
  wide: (columns) => `Av varje rad visas högst ${counted(columns, "kolumn", "kolumner")}.`,
  readAs: (encoding) => `Objektet är inte UTF-8 och har lästs som ${encoding}.`,
  marker:
    "Objektet har tagits bort, men bucketen behåller versioner. Återställ en äldre version för att få det tillbaka.",
  oldVersion: "Det här är en äldre version av objektet.",
  versionsCut: "Ännu äldre versioner visas inte här.",
  noVersionRights: "Kontot får inte lista versionerna i den här bucketen.",
  restoring: "Återställer…",
  comparing: "Jämför…",
  noDifference: "Texterna är lika.",
  differences: (added, removed) =>
    `${counted(added, "rad har", "rader har")} lagts till, ${counted(removed, "rad har", "rader har")} tagits bort.`,
  equalLines: (count) => `${counted(count, "lika rad", "lika rader")}`,
  firstCompared: (size) => `Bara de första ${size} av var och en har jämförts.`,
  moreDifferences: "Det finns fler ändringar än de som visas här.",
  notText: "En av versionerna är inte text.",
  tooDifferent: "Versionerna skiljer sig för mycket för att jämföras rad för rad.",
  notCompared: "En av versionerna kunde inte läsas. Försök igen senare.",
  restored: "Återställd som gällande version.",
  notRestored: (status) => `Inget återställdes (lagret svarade ${status}). Försök igen senare.`,
};

export const NOT_RESTORED: typeof en.NOT_RESTORED = {
  403: "Kontot får inte skriva i den här bucketen. Bucketens ägare kan tillåta det.",
  404: "Versionen finns inte längre.",
  409:
    "Inget återställdes: objektet har ändrats under tiden, eller så är bucketens versionshantering avstängd. Ladda om sidan.",
  501: "Lagret har ingen versionshantering.",
};

export const TAG_LABELS: typeof en.TAG_LABELS = {
  name: (row) => `Namn på tagg ${row}`,
  value: (row) => `Värde för tagg ${row}`,
  nameHint: "Namn",
  valueHint: "Värde",
  edit: "Redigera taggarna",
  add: "Lägg till en tagg",
  removeRow: (row) => `Ta bort tagg ${row}`,
  save: "Spara",
  cancel: "Avbryt",
};

export const TAG_SENTENCES: typeof en.TAG_SENTENCES = {
  none: "Objektet har inga taggar.",
  saved: "Sparat.",
  twice: "Två taggar har samma namn.",
  notSaved: (status) => `Taggarna sparades inte (lagret svarade ${status}). Försök igen senare.`,
};

export const NOT_SAVED: typeof en.NOT_SAVED = {
  400:
    "Ett namn har 1 till 128 tecken och börjar inte med aws:, ett värde har högst 256: bokstäver, siffror, mellanslag och + - = . _ : / @.",
  403: "Kontot får inte ändra taggarna. Bucketens ägare kan tillåta det.",
  501: "Lagret har inga taggar.",
};

export const SHARE_LABELS: typeof en.SHARE_LABELS = {
  validFor: "Länken gäller i",
  hour: "1 timme",
  day: "1 dygn",
  week: "7 dygn",
  other: "en annan tid",
  number: "Antal",
  unit: "Enhet",
  minutes: "minuter",
  hours: "timmar",
  days: "dygn",
  create: "Skapa en länk",
  link: "Länk",
  copy: "Kopiera",
  copyLink: "Kopiera länken",
  copyCurl: "Kopiera som curl-kommando",
  copyAws: "Kopiera som kommando för AWS CLI",
  qrCode: "Länken som QR-kod",
};

export const SHARE_SENTENCES: typeof en.SHARE_SENTENCES = {
  whatItIs: "Alla som har länken kan läsa objektet utan att logga in tills den går ut.",
  needsScripts: "Skript krävs för att skapa en länk.",
  newest: "Länken leder till den gällande versionen, även när objektet har ersatts.",
  receiver: (name, kind, until) =>
    `Mottagaren får ”${name}” (${kind}) fram till ${until}. Länken kan inte återkallas dessförinnan.`,
  machine:
    "Länken fungerar bara på den här datorn: lagrets adress är en loopback-adress. En administratör kan ange S3_PUBLIC_ENDPOINT_URL.",
  network: "Länken fungerar bara där lagrets privata adress kan nås. En administratör kan ange S3_PUBLIC_ENDPOINT_URL.",
  noLink:
    "Det går inte att skapa en länk till nyckeln: ett av dess led består av en eller två punkter. Kopiera objektet till en annan nyckel.",
  outOfRange: "En länk gäller i minst en minut och högst 7 dygn.",
  tooLongForQr: "Länken är för lång för en QR-kod.",
  copied: "Kopierat.",
  notCopied: "Webbläsaren tillåter inte kopiering. Markera länken och kopiera den.",
  noUrl: (status) => `Länken skapades inte (lagret svarade ${status}). Försök igen senare.`,
};
