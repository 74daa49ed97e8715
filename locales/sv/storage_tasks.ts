import type * as en from "@/locales/en/storage_tasks.ts";
import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** “Objekt” is the same in singular and plural. */
const objects = (count: number) => `${formatCount(count)} objekt`;

export const LABELS: typeof en.LABELS = {
  tasks: "Uppgifter",
  running: (count) => counted(count, "uppgift pågår", "uppgifter pågår"),
  failed: (count) => counted(count, "uppgift misslyckades", "uppgifter misslyckades"),
  done: (count) => counted(count, "uppgift klar", "uppgifter klara"),
  fold: "Fäll ihop uppladdningar och uppgifter",
  unfold: "Fäll ut uppladdningar och uppgifter",
  newFolder: "Ny mapp",
  rename: "Byt namn",
  move: "Flytta",
  copy: "Kopiera",
  delete: "Ta bort",
  zip: "Ladda ner ZIP",
  create: "Skapa",
  name: "Namn",
  newName: "Nytt namn",
  cancel: "Avbryt",
  undo: "Ångra",
  saveAgain: "Ladda ner igen",
  dismiss: "Ta bort från listan",
  dismissFinished: "Rensa de avslutade",
  bucket: "Bucket",
  folder: "Mapp",
  folderHint: "tomt: själva bucketen",
  foldersThere: "Mappar där",
  upwards: "En mapp upp",
  onTaken: "Om ett namn redan används",
  notDone: "Inte gjort",
  moveHere: (place) => `Flytta till ${place}`,
  copyHere: (place) => `Kopiera till ${place}`,
  deleteCount: (count) => `Ta bort ${objects(count)}`,
  renameOf: (name) => `Byt namn på ”${name}”`,
  moveOf: (names) => `Flytta ${names}`,
  copyOf: (names) => `Kopiera ${names}`,
  deleteOf: (names) => `Ska ${names} tas bort?`,
  one: (name) => `”${name}”`,
  several: (name, others) => `”${name}” och ${formatCount(others)} till`,
};

export const ON_TAKEN: typeof en.ON_TAKEN = {
  skip: "Låt objektet som finns där vara",
  keep: "Behåll båda: det nya får ett nummer i namnet",
  replace: "Ersätt objektet som finns där",
};

export const TITLES: typeof en.TITLES = {
  zip: (names) => `ZIP med ${names}`,
  delete: (names) => `Ta bort ${names}`,
  rename: (names, name) => `Byt namn på ${names} till ”${name}”`,
  move: (names, place) => `Flytta ${names} till ${place}`,
  copy: (names, place) => `Kopiera ${names} till ${place}`,
  undo: (names) => `Hämta tillbaka ${names}`,
};

export const PROGRESS: typeof en.PROGRESS = {
  begins: "Startar…",
  zip: (done, total) => `${formatCount(done)} av ${objects(total)} kontrollerade`,
  counting: (total) => `Räknar: ${objects(total)} hittills`,
  delete: (done, total) => `${formatCount(done)} av ${formatCount(total)} borttagna`,
  move: (done, total, deleted) =>
    `${formatCount(done)} av ${formatCount(total)} kopierade, ${formatCount(deleted)} borttagna`,
  copy: (done, total) => `${formatCount(done)} av ${formatCount(total)} kopierade`,
  undo: (done, total) => `${formatCount(done)} av ${formatCount(total)} har hämtats tillbaka`,
  canceling: "Avbryter: slutför det som pågår…",
  away: "Ingen anslutning till servern; uppgiften fortsätter automatiskt",
};

export const ENDS: typeof en.ENDS = {
  zip: (count, bytes) => `Arkivet med ${objects(count)} (${bytes}) är klart; webbläsaren sparar det.`,
  zipMissing: (missing) => `${objects(missing)} gick inte att läsa; arkivet räknar upp dem i _errors.txt.`,
  delete: (done) => done === 1 ? "1 objekt har tagits bort." : `${objects(done)} har tagits bort.`,
  rename: "Namnet är bytt.",
  move: (done) => `${objects(done)} har flyttats.`,
  copy: (done) => `${objects(done)} har kopierats.`,
  undo: (done) => `${objects(done)} har hämtats tillbaka.`,
  renamed: (count) => `${objects(count)} fick ett nummer i namnet, eftersom namnet redan används.`,
  skipped: (count) => `${objects(count)} är kvar, eftersom det nya namnet redan används.`,
  failed: (count) => `${objects(count)} misslyckades.`,
  canceled: (progress) => `Avbruten: ${progress}.`,
  gone:
    "Servern känner inte längre till uppgiften: den slutade för en stund sedan, eller servern har startats om. Mappen visar vad som är gjort.",
  listed: (count) => `De första ${formatCount(count)} av dem:`,
};

export const REASONS: typeof en.REASONS = {
  401: "Inloggningen har upphört. Logga in på nytt och försök igen.",
  403: "Kontot får inte göra det i den här bucketen. Bucketens ägare kan tillåta det.",
  404: "Det finns inte längre, eller så finns inte bucketen.",
  409: "Lagret tillåter det inte just nu, till exempel på grund av en spärr eller en bevarandetid.",
  412: "Det ändrades under tiden. Det nyare objektet finns kvar på sin gamla plats.",
  507: "Bucketen har ingen plats kvar: dess kvot är förbrukad.",
};

export const NOT_DONE: typeof en.NOT_DONE = {
  tooManyTasks: "För många uppgifter pågår. Försök igen när någon av dem är klar.",
  tooManyChosen: "En uppgift tar högst 1 000 mappar och 100 000 objekt ur ett urval. Välj färre.",
  tooMany: "Ett arkiv rymmer högst 50 000 objekt. Välj färre.",
  other: (status) => `Lagret kunde inte göra detta (det svarade ${status}).`,
  said: (message) => `Lagret säger: ${message}`,
};

export const QUESTIONS: typeof en.QUESTIONS = {
  counting: (count) => `Räknar… ${formatCount(count)} hittills`,
  counted: (count, bytes) => `${objects(count)}, sammanlagt ${bytes}`,
  notCounted: "Antalet objekt i mapparna är inte känt.",
  others: (count) => `och ${formatCount(count)} till`,
  canUndo: "Bucketen behåller versioner: det går att ångra.",
  cannotUndo: "Bucketen behåller inga versioner: det går inte att ångra.",
  undoUnknown: "Det är inte känt om bucketen behåller versioner, så det går kanske inte att ångra.",
  copies:
    "Ett lager kan inte byta namn: varje objekt kopieras och det gamla tas sedan bort. Äldre versioner stannar under det gamla namnet.",
  folderAppears: "En mapp är ett tomt objekt vars namn slutar med ett snedstreck.",
  inUse: (name) => `”${name}” finns redan. Välj ett annat namn.`,
};

export const NAME_PROBLEMS: typeof en.NAME_PROBLEMS = {
  empty: "Skriv ett namn.",
  slash: "Ett namn kan inte innehålla snedstreck.",
  "too long": "Med sina mappar blir namnet längre än 1 024 byte. Välj ett kortare.",
  "half a character": "Namnet är inte giltig Unicode. Skriv det på nytt.",
};

export const ACTIVE_TASKS: typeof en.ACTIVE_TASKS = {
  LABELS: {
    title: "Serverns uppgifter",
    kind: "Uppgift",
    state: "Läge",
    account: "Konto",
    bucket: "Bucket",
    started: "Startade",
    unknown: "okänt",
    cancel: "Avbryt",
    cancelOf: (kind, account, bucket) => `Avbryt: ${kind}, ${account}, ${bucket}`,
  },

  KINDS: {
    count: "Räkning av objekt",
    zip: "ZIP-arkiv",
    delete: "Borttagning",
    transfer: "Flytt, kopiering eller ångrad borttagning",
    fixity: "Fixitetskontroll",
  },

  STATES: {
    running: "pågår eller väntar",
    canceling: "avbryts",
    ready: "kan laddas ner",
  },

  SENTENCES: {
    own: "Dina oavslutade uppgifter och dina arkiv som kan laddas ner.",
    tenant: "De oavslutade uppgifterna hos alla konton i den här tenanten och de arkiv som kan laddas ner. " +
      "Vad de arbetar med visas inte.",
    all: "De oavslutade uppgifterna hos alla tenanter och de arkiv som kan laddas ner. Vad de arbetar med visas inte.",
    none: "Ingen uppgift pågår eller väntar.",
    shown: (shown, all) => `De ${shown} äldsta av ${counted(all, "uppgift", "uppgifter")}.`,
    canceled: "Uppgiften har avbrutits. Den slutar inom några sekunder.",
    gone: "Uppgiften är redan slut, eller är inte din.",
  },
};
