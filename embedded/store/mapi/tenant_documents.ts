import { z } from "zod";
import { CONSOLE_SECURITY_DEFAULTS } from "@/embedded/store/console_security.ts";
import { NAMESPACE_DEFAULTS } from "@/embedded/store/namespace_record.ts";
import { boolean, each, integer, listed, members, oneOf, rule, text } from "./body_schema.ts";
import { IP_SETTINGS, ipSettings } from "./ip_settings.ts";
import { NAMESPACE_SETTINGS } from "./namespaces.ts";
import { permissionsDocument, type SettingsDocument } from "./settings_document.ts";
import { versioningSettings } from "./versioning_settings.ts";

const CONTACT = [
  "firstName",
  "lastName",
  "emailAddress",
  "primaryPhone",
  "extension",
  "address1",
  "address2",
  "city",
  "state",
  "zipOrPostalCode",
  "countryOrRegion",
];

/** Most recipients of notifications. */
const MAX_RECIPIENTS = 25;

/** What notifications may be about. */
const NOTICES = ["GENERAL", "SECURITY", "COMPLIANCE"];

/** Longest list of them, in characters. */
const MAX_NOTICES_LENGTH = 100;

const noticesRule = `must hold only ${NOTICES.join(", ")}, with commas`;

const recipient = members({
  importance: oneOf("ALL", "MAJOR"),
  severity: oneOf("NOTICE", "WARNING", "ERROR"),
  type: z.string(rule(noticesRule)).refine(
    (types) => types.length <= MAX_NOTICES_LENGTH && types.split(",").every((type) => NOTICES.includes(type.trim())),
    noticesRule,
  ),
}, { address: text(1024, 1) }).transform((stated) => ({
  importance: "MAJOR",
  severity: "ERROR",
  type: "GENERAL",
  ...stated,
}));

const recipients = listed("recipient", recipient, MAX_RECIPIENTS).transform((recipient) => ({ recipient }));

const emailTemplate = members({ from: text(256), subject: text(1024), body: text(10_000) }).refine(
  ({ from, subject }) => (from === undefined) === (subject === undefined),
  "must have from and subject together",
);

const TEMPLATE = { from: "log@$location", subject: "[$severity] $shortText", body: "$fullText" };

/** The settings documents of a tenant. */
export const TENANT_DOCUMENTS: readonly SettingsDocument[] = [
  {
    kind: "consoleSecurity",
    schema: members({
      minimumPasswordLength: integer(2, 64),
      forcePasswordChangeDays: integer(0, 999_999),
      passwordReuseDepth: integer(0, 100),
      ...each([
        "disableAfterAttempts",
        "disableAfterInactiveDays",
        "logoutOnInactive",
        "coolDownPeriodDuration",
        "automaticUserAccoutUnlockDuration",
      ], integer(0, 999)),
      ...each([
        "lowerCaseLetterCount",
        "upperCaseLetterCount",
        "numericCharacterCount",
        "specialCharacterCount",
      ], integer(0, 64)),
      ...each([
        "automaticUserAccountUnlockSetting",
        "blockCommonPassword",
        "blockPasswordReUse",
        "coolDownPeriodSettings",
        "passwordCombination",
        "passwordContainsUsername",
      ], boolean),
      loginMessage: text(1024),
      ipSettings,
    }),
    defaults: {
      ...CONSOLE_SECURITY_DEFAULTS,
      disableAfterInactiveDays: 180,
      forcePasswordChangeDays: 180,
      logoutOnInactive: 10,
      coolDownPeriodSettings: false,
      coolDownPeriodDuration: 5,
      loginMessage: "",
      ipSettings: IP_SETTINGS,
    },
    read: "manage users",
    write: "manage users",
  },
  {
    kind: "contactInfo",
    schema: members(each(CONTACT, text(256))),
    defaults: each(CONTACT, ""),
  },
  {
    kind: "emailNotification",
    schema: members({ enabled: boolean, emailTemplate, recipients }),
    defaults: { enabled: false, emailTemplate: TEMPLATE, recipients: { recipient: [] } },
  },
  {
    kind: "namespaceDefaults",
    schema: members({
      ...NAMESPACE_SETTINGS,
      optimizedFor: oneOf("CLOUD", "ALL", "DEFAULT"),
      versioningSettings,
    }),
    defaults: NAMESPACE_DEFAULTS,
    fixed: { dpl: "Dynamic", effectiveDpl: "Dynamic" },
  },
  {
    kind: "searchSecurity",
    schema: members({ ipSettings }),
    defaults: { ipSettings: IP_SETTINGS },
    read: "manage users",
    write: "manage users",
  },
  permissionsDocument,
];
