import { counted, formatCount } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/uploads.ts";

export const LABELS: typeof en.LABELS = {
  uploads: "Uppladdningar",
  upload: "Ladda upp",
  uploadFolder: "Ladda upp en mapp",
  orDrop: "Filer och mappar kan också släppas var som helst på sidan",
  dropHere: (folder) => `Släpp för att ladda upp till ${folder}`,
  pauseAll: "Pausa alla",
  goOn: "Återuppta",
  cancelAll: "Avbryt alla",
  tryAgain: "Försök igen",
  tryAllAgain: "Försök igen med alla",
  close: "Töm listan",
  pause: (name) => `Pausa ${name}`,
  resume: (name) => `Återuppta ${name}`,
  cancel: (name) => `Avbryt ${name}`,
  retry: (name) => `Försök igen med ${name}`,
  replace: "Ersätt",
  keepBoth: "Behåll båda",
  skip: "Hoppa över",
  allow: "Tillåt det",
  allowing: "Tillåter…",
  logIn: "Logga in",
  discard: "Kasta",
  chooseAgain: "Välj dem igen",
  showMore: (count) => `Visa ${formatCount(count)} till`,
  sentMeter: (percent, all) => `${percent} procent av ${all} skickade`,
  percent: (percent) => `${percent} procent skickade`,
  unfinished: "Oavslutade uppladdningar",
  unfinishedNote:
    "Uppladdade delar som aldrig blev ett objekt. De tar plats tills de tas bort. Uppladdningar som pågår " +
    "på annat håll visas också här.",
  reading: "Läser…",
  begun: "Påbörjad",
  size: "Skickat",
  name: "Namn",
  end: "Ta bort",
  endOf: (name) => `Ta bort delarna av ${name}`,
  endOld: (count) => `Ta bort de ${formatCount(count)} som påbörjades för mer än en dag sedan`,
};

export const HEADS: typeof en.HEADS = {
  looking: (files) => `Slår upp ${counted(files, "namn", "namn")}`,
  started: (files) => `Laddar upp ${counted(files, "fil", "filer")}`,
  percent: (percent) => `${percent} procent uppladdat`,
  paused: "Pausat",
  stopped: "Stoppat",
  uploaded: (done, all) => `${formatCount(done)} av ${counted(all, "uppladdad", "uppladdade")}`,
  allUploaded: (done) => counted(done, "fil uppladdad", "filer uppladdade"),
  skipped: (count) => counted(count, "överhoppad", "överhoppade"),
  cancelled: (count) => counted(count, "avbruten", "avbrutna"),
  failed: (count) => counted(count, "misslyckad", "misslyckade"),
  inUse: (count) => counted(count, "namn upptaget", "namn upptagna"),
  left: (count) => `${formatCount(count)} kvar`,
  none: "Inget laddades upp",
  rate: (rate) => `${rate}/s`,
  timeLeft: (span) => `ungefär ${span} kvar`,
  timeLeftShort: "mindre än en minut kvar",
};

export const STATES: typeof en.STATES = {
  looking: "namnet slås upp",
  waiting: "väntar",
  sending: (sent, all) => `${sent} av ${all}`,
  finishing: "lagret sätter ihop delarna",
  paused: (sent, all) => `pausad vid ${sent} av ${all}`,
  taken: "namnet används redan",
  done: (size) => size,
  wasThere: (size) => `${size}, fanns redan`,
  renamed: (name) => `som ${name}`,
  skipped: "överhoppad, namnet används redan",
  cancelled: "avbruten",
  chip: "klar",
};

export const FAULTS: typeof en.FAULTS = {
  lost: (sent) => `Anslutningen bröts efter ${sent}. Försök igen; uppladdningen återupptas där.`,
  busy: (detail) => `Uppladdningen misslyckades efter flera försök. ${detail}Försök igen senare.`,
  session: "Din inloggning har upphört. Logga in igen i en annan flik och återuppta sedan här.",
  outdated:
    "Sidan är äldre än servern, som har uppdaterats. Läs in den på nytt och välj samma filer igen; uppladdningarna " +
    "återupptas där de stannade.",
  forbidden: "Det här kontot får inte skriva här. Den som äger bucketen kan tillåta det.",
  "no bucket": "Bucketen finns inte längre.",
  gone: "Uppladdningen avbröts på annat håll mer än en gång. Försök igen.",
  taken: "Namnet används redan.",
  "no condition": "Lagret har inte stöd för den här begäran.",
  full: "Lagret eller dess kvot har inte plats. Ta bort något eller be om mer plats och återuppta sedan.",
  unreadable: "Filen har ändrats eller kan inte läsas längre. Välj den igen.",
  refused: (detail) => `Lagret avvisade den här filen. ${detail}`,
  "too large": "Filen är längre än 5 TiB, gränsen för ett objekt. Dela upp den.",
  "name too long": "Namnet med alla mappar har mer än 1 024 byte. Korta det.",
  "half a character": "Namnet är inte giltig Unicode. Byt namn på filen.",
};

export const NOTICES: typeof en.NOTICES = {
  away: "Ingen anslutning till servern. Uppladdningarna återupptas automatiskt.",
  taken: (names, further) =>
    further === 0 ? `Används redan: ${names}.` : `Används redan: ${names} och ${formatCount(further)} till.`,
  noRules: "Det här lagret har inga CORS-regler för bucketar, så uppladdningar går genom den här servern.",
  direct: (bucket) =>
    `CORS-reglerna för ${bucket} låter inte den här sidan ladda upp direkt till lagret, så uppladdningar går genom den här servern.`,
  blocked: "En regel för sidan gör uppladdningar snabbare.",
  forbidden: "Den som äger bucketen kan ändra det.",
  unreachable: "Webbläsaren kan inte ansluta till lagret, så uppladdningar går genom den här servern.",
  notAllowed:
    "Regeln kunde inte läggas till: kontot får inte ändra bucketens CORS-regler, eller så finns redan hundra.",
  cut: (most) => `Bara de första ${formatCount(most)} filerna togs med. Ladda upp de andra efter dessa.`,
  unreadable: (count) => `${counted(count, "fil eller mapp", "filer eller mappar")} kunde inte läsas och är inte med.`,
  empty: "Det finns inga filer i den.",
  interrupted: (files, size, folder, begun) =>
    `En uppladdning av ${files} (${size}) till ${folder} avbröts; den började ${begun}.`,
  files: (count) => counted(count, "fil", "filer"),
  canResume: "Den kan återupptas.",
  canChooseAgain: "Välj samma filer eller mapp igen för att återuppta den.",
  elsewhere: "Gå till den mappen",
  noneUnfinished: "Det finns inga oavslutade uppladdningar i den här mappen.",
  unfinishedForbidden: "Kontot får inte lista oavslutade uppladdningar. Bucketens ägare kan tillåta det.",
  unfinishedFailed: "Oavslutade uppladdningar kan inte läsas just nu. Stäng och öppna igen senare.",
};
