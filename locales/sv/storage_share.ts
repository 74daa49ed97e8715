import type * as en from "@/locales/en/storage_share.ts";

export const LABELS: typeof en.LABELS = {
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

export const SENTENCES: typeof en.SENTENCES = {
  whatItIs: "Alla som har länken kan läsa objektet utan att logga in tills den går ut.",
  needsScripts: "Skript krävs för att skapa en länk.",
  newest: "Länken leder till den gällande versionen, även när objektet har ersatts.",
  receiver: (name, kind, until) =>
    `Mottagaren får ”${name}” (${kind}) fram till ${until}. Länken kan inte återkallas dessförinnan.`,
  machine:
    "Länken fungerar bara på den här datorn: lagrets adress är en loopback-adress. En administratör kan ange S3_PUBLIC_ENDPOINT_URL.",
  network: "Länken fungerar bara där lagrets privata adress kan nås. En administratör kan ange S3_PUBLIC_ENDPOINT_URL.",
  noLink:
    "Ingen länk kan innehålla nyckeln, eftersom ett av dess led består av en eller två punkter. Kopiera objektet till en annan nyckel.",
  outOfRange: "En länk gäller i minst en minut och högst 7 dygn.",
  tooLongForQr: "Länken är för lång för en QR-kod.",
  copied: "Kopierat.",
  notCopied: "Webbläsaren tillåter inte kopiering. Markera länken och kopiera den.",
  noUrl: (status) => `Länken skapades inte (lagret svarade ${status}). Försök igen senare.`,
};
