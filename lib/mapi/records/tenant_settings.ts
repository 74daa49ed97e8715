import { z } from "zod";
import { CORS_CONFIGURATION } from "./cors_pattern.ts";
import { given, hardQuota, isText, namespaceSoftQuota, returned, SOFT_QUOTA } from "./fields.ts";
import { ipSettingsFromStore, ipSettingsToStore } from "./ip_settings.ts";
import { DIRECTORY_USAGES, HASH_SCHEMES, versioning } from "./namespace.ts";
import { AUTO_ABORT_DAYS, DESCRIPTION, NOTICE_TYPES, printable, SERVICE_PLAN } from "./store_rules.ts";

/** Whole numbers of the console's security: what they mean, and their bounds. */
const SECURITY_NUMBERS = {
  minimumPasswordLength: ["Characters", 2, 64],
  disableAfterAttempts: ["Failed logins until the account is disabled; 0: never", 0, 999],
  disableAfterInactiveDays: ["Days", 0, 999],
  forcePasswordChangeDays: ["Days", 0, 999_999],
  logoutOnInactive: ["Minutes", 0, 999],
  lowerCaseLetterCount: ["Fewest of them in a password", 0, 64],
  upperCaseLetterCount: ["Fewest of them in a password", 0, 64],
  numericCharacterCount: ["Fewest of them in a password", 0, 64],
  specialCharacterCount: ["Fewest of them in a password", 0, 64],
  passwordReuseDepth: ["How many former passwords cannot be used again", 0, 100],
  coolDownPeriodDuration: ["Seconds", 0, 999],
  // The store spells it without the second n.
  automaticUserAccoutUnlockDuration: ["Minutes", 0, 999],
} satisfies Record<string, Bounded>;

type Bounded = readonly [description: string, minimum: number, maximum: number];

const SECURITY_FLAGS = {
  automaticUserAccountUnlockSetting: "Whether disabled accounts are enabled again by themselves",
  blockCommonPassword: "Whether common passwords are refused",
  blockPasswordReUse: "Whether former passwords are refused",
  coolDownPeriodSettings: "Whether failed logins are slowed down",
  passwordCombination: "Whether the counts of characters are demanded",
  passwordContainsUsername: "Whether a password may hold the user name",
};

const CONTACT = {
  firstName: "First name",
  lastName: "Last name",
  emailAddress: "E-mail address",
  primaryPhone: "Telephone",
  extension: "Telephone extension",
  address1: "First line of the address",
  address2: "Second line of the address",
  city: "City",
  state: "State or region",
  zipOrPostalCode: "Postal code",
  countryOrRegion: "Country",
};

/** Applies a maker of fields to every name of a table. */
function fields<N extends string, D, S extends z.ZodType>(
  table: Readonly<Record<N, D>>,
  make: (described: D) => S,
): Record<N, S> {
  const entries = Object.entries<D>(table).map(([name, described]) => [name, make(described)]);
  return Object.fromEntries(entries) as Record<N, S>;
}

export const consoleSecurity = z.looseObject({
  ...fields<keyof typeof SECURITY_NUMBERS, Bounded, ReturnType<typeof returned.whole>>(
    SECURITY_NUMBERS,
    ([description]) => returned.whole(description),
  ),
  ...fields(SECURITY_FLAGS, returned.flag),
  loginMessage: returned.text("Shown at the login of the store's console"),
  ipSettings: ipSettingsFromStore,
}).meta({ id: "ConsoleSecurity" });

export const consoleSecurityUpdate = z.looseObject({
  ...fields<keyof typeof SECURITY_NUMBERS, Bounded, ReturnType<typeof given.whole>>(
    SECURITY_NUMBERS,
    ([description, minimum, maximum]) => given.whole(description, { minimum, maximum }),
  ),
  ...fields(SECURITY_FLAGS, given.flag),
  loginMessage: given.text("Shown at the login of the store's console", DESCRIPTION),
  ipSettings: ipSettingsToStore,
}).meta({ id: "ConsoleSecurityUpdate", examples: [{ minimumPasswordLength: 6 }] });

export const contactInfo = z.looseObject(fields(CONTACT, returned.text)).meta({ id: "ContactInfo" });
export const contactInfoUpdate = z.looseObject(
  fields(CONTACT, (description) => given.text(description, printable(256))),
).meta({ id: "ContactInfoUpdate" });

/** Most recipients of a notification. */
const MAX_RECIPIENTS = 25;

const recipient = z.looseObject({
  address: z.string().min(1).meta({ ...printable(1024), description: "One or several addresses, with commas" }),
  importance: z.enum(["ALL", "MAJOR"]).nullish(),
  severity: z.enum(["NOTICE", "WARNING", "ERROR"]).nullish(),
  type: given.text("Which of GENERAL, SECURITY and COMPLIANCE, with commas", NOTICE_TYPES),
}).meta({ id: "Recipient" });

const recipients = z.array(recipient).max(MAX_RECIPIENTS);

export const emailNotification = z.looseObject({
  enabled: returned.flag("Whether mails are sent"),
  emailTemplate: returned.open("`{from, subject, body}` of the mails"),
  recipients: returned.open("`{recipient: […]}`"),
}).meta({ id: "EmailNotification" });

export const emailNotificationUpdate = z.looseObject({
  enabled: given.flag("Whether mails are sent"),
  emailTemplate: z.looseObject({
    from: given.text("Sender; goes together with the subject", printable(256)),
    subject: given.text("May hold variables such as `$severity`", printable(1024)),
    body: given.text("May hold variables such as `$fullText`", printable(10_000)),
  }).meta({
    anyOf: [
      { allOf: [isText("from"), isText("subject")] },
      { properties: { from: { type: "null" }, subject: { type: "null" } } },
    ],
  }).nullish(),
  recipients: z.union([
    recipients.transform((recipient) => ({ recipient })),
    z.looseObject({ recipient: recipients }),
  ]).nullish().meta({ description: "The whole list, with or without the store's wrapping; at most 25" }),
}).meta({ id: "EmailNotificationUpdate" });

const DEFAULT_TEXTS = {
  description: "Description of new namespaces",
  hashScheme: "Digest that names objects, such as SHA-256",
  hardQuota: "A number, a space and MB, GB or TB",
  servicePlan: "Name of the service plan",
  optimizedFor: "CLOUD, ALL or DEFAULT",
  directoryUsage: "Balanced, Unbalanced or Default",
  retentionType: "HCP or S3",
};

const DEFAULT_FLAGS = {
  enterpriseMode: "Whether privileged deletes are possible",
  allowErasureCoding: "Whether objects may be erasure coded",
  replicationEnabled: "Whether namespaces are replicated",
  searchEnabled: "Whether namespaces can be searched",
  s3UnversionedOverwrite: "Whether S3 writes over objects without versions",
};

export const namespaceDefaults = z.looseObject({
  ...fields(DEFAULT_TEXTS, returned.text),
  ...fields(DEFAULT_FLAGS, returned.flag),
  softQuota: returned.whole(SOFT_QUOTA),
  multipartUploadAutoAbortDays: returned.whole("Days, 0 to 180; 0: never"),
  versioningSettings: returned.open("Versioning of new namespaces"),
  dpl: returned.text("Data protection level"),
  effectiveDpl: returned.text("Data protection level in effect"),
}).meta({ id: "NamespaceDefaults" });

export const namespaceDefaultsUpdate = z.looseObject({
  ...fields(DEFAULT_FLAGS, given.flag),
  description: given.text(DEFAULT_TEXTS.description, DESCRIPTION),
  hashScheme: given.text(DEFAULT_TEXTS.hashScheme, { enum: HASH_SCHEMES }),
  hardQuota,
  servicePlan: given.text(DEFAULT_TEXTS.servicePlan, SERVICE_PLAN),
  optimizedFor: given.text(DEFAULT_TEXTS.optimizedFor, { enum: ["CLOUD", "ALL", "DEFAULT"] }),
  directoryUsage: given.text(DEFAULT_TEXTS.directoryUsage, { enum: DIRECTORY_USAGES }),
  retentionType: given.text(DEFAULT_TEXTS.retentionType, { enum: ["HCP", "S3"] }),
  softQuota: namespaceSoftQuota,
  multipartUploadAutoAbortDays: given.whole("Days; 0: never", AUTO_ABORT_DAYS),
  versioningSettings: versioning.nullish(),
}).meta({ id: "NamespaceDefaultsUpdate", examples: [{ hardQuota: "50 GB", softQuota: 85 }] });

export const searchSecurity = z.looseObject({ ipSettings: ipSettingsFromStore }).meta({ id: "SearchSecurity" });
export const searchSecurityUpdate = z.looseObject({ ipSettings: ipSettingsToStore })
  .meta({ id: "SearchSecurityUpdate" });

/** A document whose members are the store's own. */
const openDocument = z.record(z.string(), z.unknown());

export const permissions = openDocument.meta({
  id: "Permissions",
  description: "Handed on as it is",
  examples: [{ permission: ["READ", "WRITE", "DELETE", "PRIVILEGED", "PURGE", "SEARCH"] }],
});

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
