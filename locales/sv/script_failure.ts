import type * as en from "@/locales/en/script_failure.ts";

export const SCRIPT_FAILURE: typeof en.SCRIPT_FAILURE = {
  sentence: "Ett skript på den här sidan kunde inte läsas in. Kontrollera anslutningen och försök igen.",
  tryAgain: "Försök igen",
};
