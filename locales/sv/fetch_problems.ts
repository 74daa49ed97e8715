import type * as en from "@/locales/en/fetch_problems.ts";

export const FILE_NAMES: typeof en.FILE_NAMES = {
  manifest: "Manifestet",
  pageText: "Sidans text",
  page: "Sidan",
  log: "Loggen",
  runSummary: "Körningens sammanfattning",
};

export const ANY_FILE: typeof en.ANY_FILE = {
  404: noFile,
  410: noFile,
  429: (file) => `${file} kan inte läsas: filens server får för många förfrågningar. Försök igen om en minut.`,
  slow: (file) => `${file} kom inte fram i tid. Försök igen om en stund.`,
  "too large": (file) => `${file} kan inte visas: filen är för stor. Öppna själva filen.`,
  blocked: (file) =>
    `${file} kan inte läsas: webbläsaren blockerar adressen, som börjar med http:, på en säker sida, och https fungerar ` +
    "inte där. Öppna själva filen eller be den som publicerar den om en https-adress.",
};

export const OUR_FILE: typeof en.OUR_FILE = {
  401: (file) => `${file} kan inte läsas utan inloggning. Logga in, så kommer du tillbaka till den här sidan.`,
  403: (file) =>
    `${file} kan inte läsas: kontot har inte behörighet. Begär åtkomst eller logga in med ett annat konto.`,
  502: resultsOutage,
  503: resultsOutage,
  504: resultsOutage,
  unreachable: (file) => `${file} kan inte nås: servern svarar inte. Försök igen om en stund.`,
};

export const OTHER_FILE: typeof en.OTHER_FILE = {
  401: (file) =>
    `${file} kan inte läsas: filens server kräver en egen inloggning. Logga in där och öppna sedan den här sidan igen.`,
  403: (file) => `${file} kan inte läsas: filens server tillåter det inte. Begär åtkomst av den som publicerar filen.`,
  unreachable: (file) =>
    `${file} kan inte nås. Antingen svarar inte filens server, eller så låter den inte andra webbplatser läsa filen ` +
    "(den skickar inga CORS-huvuden). Försök igen eller öppna själva filen.",
};

export const OTHER_STATUS: typeof en.OTHER_STATUS = {
  ofServer: (file, status) =>
    `${file} kan inte läsas: ett fel uppstod på filens server (status ${status}). Försök igen senare.`,
  ofRequest: (file, status) =>
    `${file} kan inte läsas: filens server svarade med status ${status}. Kontrollera adressen.`,
};

function noFile(file: string): string {
  return `${file} kan inte läsas: det finns ingen fil på adressen. Den kanske inte är publicerad än: kontrollera ` +
    "adressen eller försök igen senare.";
}

function resultsOutage(file: string): string {
  return `${file} kan inte läsas: resultatlagret svarar inte. Försök igen om en stund.`;
}
