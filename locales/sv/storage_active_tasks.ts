import { counted } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/storage_active_tasks.ts";

export const LABELS: typeof en.LABELS = {
  title: "Serverns uppgifter",
  kind: "Uppgift",
  state: "Läge",
  account: "Konto",
  bucket: "Bucket",
  started: "Startade",
  unknown: "okänt",
  cancel: "Avbryt",
  cancelOf: (kind, account, bucket) => `Avbryt: ${kind}, ${account}, ${bucket}`,
};

export const KINDS: typeof en.KINDS = {
  count: "Räkning av objekt",
  zip: "ZIP-arkiv",
  delete: "Borttagning",
  transfer: "Flytt, kopiering eller ångrad borttagning",
  fixity: "Fixitetskontroll",
};

export const STATES: typeof en.STATES = {
  running: "pågår eller väntar",
  canceling: "avbryts",
  ready: "kan laddas ner",
};

export const SENTENCES: typeof en.SENTENCES = {
  own: "Dina oavslutade uppgifter och dina arkiv som kan laddas ner.",
  tenant: "De oavslutade uppgifterna hos alla konton i den här tenanten och de arkiv som kan laddas ner. " +
    "Vad de arbetar med visas inte.",
  all: "De oavslutade uppgifterna hos alla tenanter och de arkiv som kan laddas ner. Vad de arbetar med visas inte.",
  none: "Ingen uppgift pågår eller väntar.",
  shown: (shown, all) => `De ${shown} äldsta av ${counted(all, "uppgift", "uppgifter")}.`,
  canceled: "Uppgiften har avbrutits. Den slutar inom några sekunder.",
  gone: "Uppgiften är redan slut, eller är inte din.",
};
