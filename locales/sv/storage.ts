import type * as en from "@/locales/en/storage.ts";
import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

export const LABELS: typeof en.LABELS = {
  storage: "Lagring",
  buckets: "Bucketar",
  bucket: "Bucket",
  bucketName: "Bucketens namn",
  openBucket: "Öppna bucketen",
  objects: "Objekt",
  size: "Storlek",
  created: "Skapad",
  name: "Namn",
  kind: "Slag",
  changed: "Ändrad",
  folder: "Mapp",
  account: "Konto",
  toBuckets: "Till bucketarna",
  logOutOf: (account) => `Logga ut ${account}`,
  otherAccount: "Logga in på ett annat konto",
  folderPath: "Sökväg",
  contents: "Mappens innehåll",
  find: "Namn i mappen som börjar med",
  findHint: "Namn som börjar med …",
  jump: "Gå till ett namn",
  jumpHint: "Gå till ett namn …",
  show: "Visa",
  loading: "Läser in…",
  tryAgain: "Försök igen",
  reload: "Läs in sidan på nytt",
  nextRows: "Nästa namn",
  showChanges: "Visa ändringarna",
  firstRows: "Från första namnet",
  selectAll: "Markera allt i listan",
  select: (name) => `Markera ${name}`,
  selected: (count) => `${count} markerade`,
  withSelected: (count) => `Med de ${count} markerade`,
  clearSelection: "Avmarkera allt",
  shortcuts: "Kortkommandon",
  actions: "Åtgärder",
  wholeFolder: "Markera hela mappen",
  wholeSelected: (name) => `Hela ${name} markerad`,
  closeDetails: "Stäng detaljerna",
  toPage: "Innehåll, länk, versioner",
  download: "Ladda ner",
  type: "Typ",
  etag: "ETag",
  version: "Version",
  rowOrder: "I lagrets ordning: efter namn",
  emptyName: "(tomt namn)",
  unknown: "–",
  prefixHint: "tomt: hela bucketen",
  checkFixity: "Kontrollera fixitet",
  places: "Fixitetskontroller, uppgifter och händelselogg",
  fixity: "Fixitet",
  tasks: "Uppgifter",
  audit: "Händelselogg",
};

export const SENTENCES: typeof en.SENTENCES = {
  logIn: "för att se lagringen.",
  noBuckets: "Inga bucketar är synliga för kontot.",
  opensByName: "Skriv namnet för att öppna en bucket som inte finns i listan.",
  systemLevel: "Ett konto på systemnivå har inga bucketar. Det förvaltar lagrets tenanter genom API:et.",
  outdatedPage:
    "Sidan är äldre än servern, som har uppdaterats. Läs in den på nytt och välj sedan de filer igen som inte " +
    "hade laddats upp. Uppgifterna fortsätter automatiskt.",
  reading: "Läser fler namn…",
  outdated: "Mappen har ändrats.",
  sortedPart: "Bara det som har lästs är sorterat.",
  moreBelow: "fler finns längre ner",
  notShownHere: (count) => `${formatCount(count)} visas inte här`,
  emptyFolder: "Mappen är tom.",
  noneFound: (find) => `Inget namn i mappen börjar med ”${find}”.`,
  loggedInAs: (account) => `Inloggad som ${account}.`,
  readOnly: "Kontot får läsa bucketen men inte ändra den. Bucketens ägare kan tillåta det.",
  noWriting: "Kontot får inte skriva till bucketen. Bucketens ägare kan tillåta det.",
  noDeleting: "Kontot får inte ta bort något ur bucketen. Bucketens ägare kan tillåta det.",
  sessionOver: (account) =>
    `Sessionen för ${account} har upphört: den har loggats ut, eller lagret godtar den inte längre.`,
  incomplete: {
    bucket: "Adressen anger ingen bucket: parametern ”bucket” saknas.",
    key: "Adressen anger inget objekt: parametern ”key” saknas.",
  },
  noAccount: (account) => `Ingen inloggning som ${account} finns här.`,
  ended: "Lagret godtar inte längre inloggningen: lösenordet har ändrats eller kontot har stängts. Logga in på nytt.",
  notShown: (status) => `Lagret kan inte visa detta (det svarade ${status}).`,
  rows: (count) => counted(count, "post", "poster"),
  firstRows: (count) => count === 1 ? "Den första posten" : `De första ${counted(count, "posten", "posterna")}`,
};

export const OUTAGES: typeof en.OUTAGES = {
  0: "Ingen anslutning till servern. Kontrollera nätverket och försök igen.",
  429: "Lagret är överbelastat. Försök igen om en stund.",
  502: "Lagret kan inte nås. Försök igen senare.",
  504: "Lagret svarar inte i tid. Försök igen senare.",
};

export const FORBIDDEN: typeof en.FORBIDDEN = {
  buckets: "Kontot får inte lista bucketar.",
  folder: "Kontot får inte lista den här bucketen. Dess ägare kan tillåta det.",
  object: "Kontot får inte läsa objektet. Bucketens ägare kan tillåta det.",
};

export const MISSING: typeof en.MISSING = {
  buckets: "Lagret listar inte bucketar.",
  folder: "Det finns ingen bucket med det namnet.",
  object: "Det finns inget objekt med den nyckeln. Det kan ha tagits bort eller bytt namn.",
};

export const FOLDER_KEY_WORDS: typeof en.FOLDER_KEY_WORDS = {
  find: "Sök efter namn",
  row: "Nästa eller föregående namn",
  page: "En skärm framåt eller bakåt",
  end: "Första eller sista namnet",
  select: "Markera namnet",
  range: "Med en pil eller ett klick: markera alla namn på vägen",
  all: "Markera allt i listan",
  none: "Stäng detaljerna, annars avmarkera allt",
  help: "De här kortkommandona",
};
