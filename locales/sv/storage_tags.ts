import type * as en from "@/locales/en/storage_tags.ts";

export const LABELS: typeof en.LABELS = {
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

export const SENTENCES: typeof en.SENTENCES = {
  none: "Objektet har inga taggar.",
  saved: "Sparat.",
  twice: "Två taggar har samma namn.",
  badTag:
    "Ett namn har 1 till 128 tecken och börjar inte med aws:, ett värde har högst 256: bokstäver, siffror, mellanslag och + - = . _ : / @.",
  noRight: "Kontot får inte ändra taggarna. Bucketens ägare kan tillåta det.",
  noTags: "Lagret har inga taggar.",
  other: (status) => `Taggarna sparades inte (lagret svarade ${status}). Försök igen senare.`,
};
