import type * as en from "@/locales/en/coded.ts";

export const CODED: typeof en.CODED = {
  results_unavailable: "Resultatlagret svarar inte",
  store_unreachable: "Lagret kan inte nås",
  store_timeout: "Lagret svarade inte i tid",
  store_broken: "Anslutningen till lagret bröts",
  task_login_refused:
    "Lagret godtar inte längre inloggningen som den startades med: logga in igen och starta den på nytt",
  task_forbidden:
    "Lagret tillåter det inte längre: kontot, lösenordet eller behörigheterna kan ha ändrats sedan starten ({message})",
  task_key_replaced:
    "Serverns nyckel har bytts ut, eller så har den sparade uppgiften ändrats sedan starten: starta den igen",
  task_input_changed: "Den sparade listan över vad som skulle göras har ändrats eller är borta: starta den igen",
  task_progress_changed:
    "Det sparade läget har ändrats, eller kommer från en annan version av servern: starta den igen",
  task_other_version: "Den startades av en annan version av servern: starta den igen",
  task_over_24_hours: "Den stoppades efter 24 timmar: starta den igen för det som återstår",
  task_over_30_days: "Den stoppades efter 30 dagar: kontrollera resten i mindre delar eller i högre takt",
  task_canceled: "Den avbröts",
  task_internal_error: "Internt fel i servern: dess logg säger mer",
  archive_empty: "Det finns inga objekt där",
  archive_objects_too_many: "För många objekt ({count}): ett arkiv rymmer {most}",
  archive_keys_too_long: "Objektens nycklar är för långa för ett arkiv: välj färre",
  archive_plan_gone: "En del av arkivets innehållsförteckning är borta: starta den igen",
  listing_stuck: "Lagrets lista över bucketen ”{bucket}” upprepar sig",
  listing_not_resumable: "Lagrets lista över bucketen ”{bucket}” kan inte börja vid en viss nyckel",
  transfer_same_place: "De finns redan där. Välj en annan mapp.",
  transfer_inside_itself: "En mapp kan inte flyttas eller kopieras in i sig själv. Välj en annan mapp.",
  transfer_onto_itself:
    "Där skulle mappens innehåll hamna i mappen själv. Byt namn på den först eller välj en annan mapp.",
  transfer_key_too_long: "Några nycklar skulle bli längre än 1 024 byte där. Välj en mapp med kortare sökväg.",
  transfer_uncertain:
    "”{key}” kan redan vara dess kopia, eller ett annat objekt. Jämför båda och ta sedan bort det ena.",
};
