import type * as en from "@/locales/en/coded_checks.ts";
import { CODED } from "./coded.ts";

export const ALL: typeof en.ALL = {
  ...CODED,
  origin_scheme:
    "Inloggningen nekades: webbläsaren och servern är inte överens om ifall sajten använder http eller https. Om adressen är den vanliga måste sajtens proxy skicka huvudet X-Forwarded-Proto, och TRUSTED_HOPS måste räkna med proxyn.",
  origin_host:
    "Inloggningen nekades: servern känner sajten under ett annat namn än webbläsaren. Om adressen är den vanliga måste sajtens proxy skicka huvudet Host vidare.",
  object_forbidden: "Inloggningen får inte läsa det",
  object_overwritten: "Det skrevs över varje gång det lästes",
  object_parts_unknown: "Lagret anger inte dess delar",
  object_etags_unknown: "Inget annat objekt visar om lagrets ETag:ar är MD5",
  object_etags_not_md5: "Lagrets ETag:ar är inte MD5",
  object_versions_too_many: "Lagret hittar det inte, och listar för många versioner för att leta efter det",
  object_listed_not_found: "Lagret listar det men hittar det inte",
  object_in_manifest: "Manifestet nämner det",
  object_in_baseline: "Det fanns vid den tidigare kontrollen",
  object_replaced:
    "Innehållet är som det lagrades: det har skrivits över sedan dess, eller så gäller jämförelsen annat innehåll",
  object_wrong_length: "Lagret skickar ett annat antal byte än det anger",
  object_broken_off: "Läsningen avbryts varje gång",
  bag_declaration_invalid: "bagit.txt anger inte version och teckenkodning enligt BagIt",
  bag_algorithm_unknown: "{name} jämförs inte: dess algoritm är inte känd här",
  bag_manifests_too_many: "{name} jämförs inte: det finns för många manifest",
  bag_without_manifest: "Bagen har inget manifest över innehållet som kan jämföras",
  bag_oxum_invalid: "bag-info.txt anger inte Payload-Oxum enligt BagIt",
  bag_oxum_differs: "Payload-Oxum anger {files} filer med {bytes} byte: det finns {found_files} med {found_bytes} byte",
  bag_manifest_invalid_lines: "{name} har {lines} rader som inte anger någon fil i bagen",
  bag_manifest_fewer_files: "{name} nämner {files} filer, ett annat manifest över innehållet {most}",
  manifest_overwritten: "Manifestet ”{key}” skrevs över medan kontrollen pågick: starta kontrollen igen",
  manifest_deleted: "Manifestet ”{key}” togs bort medan kontrollen pågick",
  not_written_name: "Inget manifest gjordes: program skulle läsa namnet på objektet ”{key}” som namnet på en annan fil",
  not_written_exists: "{keys} finns redan med annat innehåll",
  field_without_other: "valet har ingen betydelse utan det fält som det hör till",
  manifest_with_bag: "en bag har egna manifest: välj bara det ena",
  manifest_algorithm_unknown: "namnet anger en annan algoritm än md5, sha1, sha256 och sha512",
  manifest_not_found: "det finns inget objekt ”{key}” i bucketen ”{bucket}”",
  bag_prefix: "för en bag är fältet tomt eller slutar med ett snedstreck",
  bag_not_found: "det finns inget objekt ”{key}”, så det är ingen bag",
  versions_not_compared: "manifest och tidigare kontroller säger inget om äldre versioner: välj bort dem",
  baseline_not_found: "kontot har ingen sådan kontroll i den här bucketen",
  baseline_running: "den kontrollen är inte klar än",
  baseline_incomplete:
    "den kontrollen har inte en rad för varje objekt: den behöver rader för oskadade objekt och inga äldre versioner",
  baseline_gone: "raderna i den kontrollen finns inte längre",
  report_rows_gone: "Raderna i rapporten finns inte längre: de sparas i 30 dagar, antalen i 400",
};

export const INVALID: typeof en.INVALID = {
  missing: "värdet saknas",
  enum: "värdet är inte ett av de tillåtna",
  string_pattern_mismatch: "värdet har inte rätt form",
  string_type: "värdet ska vara en text",
  int_type: "värdet ska vara ett heltal",
  string_too_short: "texten ska ha minst {min_length} tecken",
  string_too_long: "texten får ha högst {max_length} tecken",
  greater_than_equal: "värdet ska vara minst {ge}",
  less_than_equal: "värdet ska vara högst {le}",
};
