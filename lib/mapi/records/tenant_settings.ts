import { z } from "zod";
import { CORS_CONFIGURATION } from "./cors_pattern.ts";
import {
  given,
  hardQuota,
  isText,
  member,
  namespaceSoftQuota,
  returned,
  settingsDocument,
  sideOf,
  SOFT_QUOTA,
} from "./fields.ts";
import { ipSettings } from "./ip_settings.ts";
import { DIRECTORY_USAGES, HASH_SCHEMES, versioningGiven } from "./namespace.ts";
import { AUTO_ABORT_DAYS, DESCRIPTION, NOTICE_TYPES, printable, SERVICE_PLAN } from "./store_rules.ts";

export const consoleSecurity = settingsDocument("ConsoleSecurity", {
  minimumPasswordLength: member.whole("Characters", { minimum: 2, maximum: 64 }),
  disableAfterAttempts: member.whole("Failed logins until the account is disabled; 0: never", {
    minimum: 0,
    maximum: 999,
  }),
  disableAfterInactiveDays: member.whole("Days", { minimum: 0, maximum: 999 }),
  forcePasswordChangeDays: member.whole("Days", { minimum: 0, maximum: 999_999 }),
  logoutOnInactive: member.whole("Minutes", { minimum: 0, maximum: 999 }),
  lowerCaseLetterCount: member.whole("Fewest of them in a password", { minimum: 0, maximum: 64 }),
  upperCaseLetterCount: member.whole("Fewest of them in a password", { minimum: 0, maximum: 64 }),
  numericCharacterCount: member.whole("Fewest of them in a password", { minimum: 0, maximum: 64 }),
  specialCharacterCount: member.whole("Fewest of them in a password", { minimum: 0, maximum: 64 }),
  passwordReuseDepth: member.whole("How many former passwords cannot be used again", { minimum: 0, maximum: 100 }),
  coolDownPeriodDuration: member.whole("Seconds", { minimum: 0, maximum: 999 }),
  // The store spells it without the second n.
  automaticUserAccoutUnlockDuration: member.whole("Minutes", { minimum: 0, maximum: 999 }),
  automaticUserAccountUnlockSetting: member.flag("Whether disabled accounts are enabled again by themselves"),
  blockCommonPassword: member.flag("Whether common passwords are refused"),
  blockPasswordReUse: member.flag("Whether former passwords are refused"),
  coolDownPeriodSettings: member.flag("Whether failed logins are slowed down"),
  passwordCombination: member.flag("Whether the counts of characters are demanded"),
  passwordContainsUsername: member.flag("Whether a password may hold the user name"),
  loginMessage: member.text("Shown at the login of the store's console", DESCRIPTION),
  ipSettings,
}, { examples: [{ minimumPasswordLength: 6 }] });

const CONTACT_LINE = printable(256);

export const contactInfo = settingsDocument("ContactInfo", {
  firstName: member.text("First name", CONTACT_LINE),
  lastName: member.text("Last name", CONTACT_LINE),
  emailAddress: member.text("E-mail address", CONTACT_LINE),
  primaryPhone: member.text("Telephone", CONTACT_LINE),
  extension: member.text("Telephone extension", CONTACT_LINE),
  address1: member.text("First line of the address", CONTACT_LINE),
  address2: member.text("Second line of the address", CONTACT_LINE),
  city: member.text("City", CONTACT_LINE),
  state: member.text("State or region", CONTACT_LINE),
  zipOrPostalCode: member.text("Postal code", CONTACT_LINE),
  countryOrRegion: member.text("Country", CONTACT_LINE),
});

/** Most recipients of a notification. */
const MAX_RECIPIENTS = 25;

const recipient = z.looseObject({
  address: z.string().min(1).meta({ ...printable(1024), description: "One or several addresses, with commas" }),
  importance: z.enum(["ALL", "MAJOR"]).nullish(),
  severity: z.enum(["NOTICE", "WARNING", "ERROR"]).nullish(),
  type: given.text("Which of GENERAL, SECURITY and COMPLIANCE, with commas", NOTICE_TYPES),
}).meta({ id: "Recipient" });

const recipients = z.array(recipient).max(MAX_RECIPIENTS);

const emailTemplate = z.looseObject({
  from: given.text("Sender; goes together with the subject", printable(256)),
  subject: given.text("May hold variables such as `$severity`", printable(1024)),
  body: given.text("May hold variables such as `$fullText`", printable(10_000)),
}).meta({
  anyOf: [
    { allOf: [isText("from"), isText("subject")] },
    { properties: { from: { type: "null" }, subject: { type: "null" } } },
  ],
}).nullish();

export const emailNotification = settingsDocument("EmailNotification", {
  enabled: member.flag("Whether mails are sent"),
  emailTemplate: { returned: returned.open("`{from, subject, body}` of the mails"), given: emailTemplate },
  recipients: {
    returned: returned.open("`{recipient: […]}`"),
    given: z.union([
      recipients.transform((recipient) => ({ recipient })),
      z.looseObject({ recipient: recipients }),
    ]).nullish().meta({ description: "The whole list, with or without the store's wrapping; at most 25" }),
  },
});

const defaultTexts = {
  description: member.text("Description of new namespaces", DESCRIPTION),
  hashScheme: member.text("Digest that names objects, such as SHA-256", { enum: HASH_SCHEMES }),
  hardQuota: { returned: returned.text("A number, a space and MB, GB or TB"), given: hardQuota },
  servicePlan: member.text("Name of the service plan", SERVICE_PLAN),
  optimizedFor: member.text("CLOUD, ALL or DEFAULT", { enum: ["CLOUD", "ALL", "DEFAULT"] }),
  directoryUsage: member.text("Balanced, Unbalanced or Default", { enum: DIRECTORY_USAGES }),
  retentionType: member.text("HCP or S3", { enum: ["HCP", "S3"] }),
};

const defaultFlags = {
  enterpriseMode: member.flag("Whether privileged deletes are possible"),
  allowErasureCoding: member.flag("Whether objects may be erasure coded"),
  replicationEnabled: member.flag("Whether namespaces are replicated"),
  searchEnabled: member.flag("Whether namespaces can be searched"),
  s3UnversionedOverwrite: member.flag("Whether S3 writes over objects without versions"),
};

export const namespaceDefaults = {
  schema: z.looseObject({
    ...sideOf("returned", { ...defaultTexts, ...defaultFlags }),
    softQuota: returned.whole(SOFT_QUOTA),
    multipartUploadAutoAbortDays: returned.whole("Days, 0 to 180; 0: never"),
    versioningSettings: returned.open("Versioning of new namespaces"),
    dpl: returned.text("Data protection level"),
    effectiveDpl: returned.text("Data protection level in effect"),
  }).meta({ id: "NamespaceDefaults" }),
  update: z.looseObject({
    ...sideOf("given", { ...defaultFlags, ...defaultTexts }),
    softQuota: namespaceSoftQuota,
    multipartUploadAutoAbortDays: given.whole("Days; 0: never", AUTO_ABORT_DAYS),
    versioningSettings: versioningGiven,
  }).meta({ id: "NamespaceDefaultsUpdate", examples: [{ hardQuota: "50 GB", softQuota: 85 }] }),
} as const;

export const searchSecurity = settingsDocument("SearchSecurity", { ipSettings });

const openPermissions = z.record(z.string(), z.unknown()).meta({
  id: "Permissions",
  description: "Handed on as it is",
  examples: [{ permission: ["READ", "WRITE", "DELETE", "PRIVILEGED", "PURGE", "SEARCH"] }],
});

/** Permissions of a tenant or a namespace: a document whose members are the store's own. */
export const permissions = { schema: openPermissions, update: openPermissions } as const;

/** CORS rules of a tenant or a namespace. */
export const cors = z.looseObject({ cors: returned.text("A CORSConfiguration, as XML") }).meta({ id: "CorsDocument" });
export const corsUpdate = z.object({
  cors: z.string().min(1).meta({
    ...CORS_CONFIGURATION,
    description: "A CORSConfiguration, as XML of 64 KiB at most; its elements may come in any order",
    examples: [
      "<CORSConfiguration><CORSRule><AllowedOrigin>https://site.example.org</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>",
    ],
  }),
}).meta({ id: "CorsDocumentUpdate" });

export const servicePlan = z.looseObject({
  name: returned.text("The plan's name"),
  description: returned.text("What it does"),
}).meta({ id: "ServicePlan" });
