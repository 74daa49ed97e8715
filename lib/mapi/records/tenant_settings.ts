import { z } from "zod";
import { answered, given, SOFT_QUOTA, softQuota } from "./fields.ts";
import { ipSettingsFromStore, ipSettingsToStore } from "./ip_settings.ts";

/** Whole numbers of the console's security, with what they mean. */
const SECURITY_NUMBERS = {
  minimumPasswordLength: "Characters, 2 to 64",
  disableAfterAttempts: "Failed logins until the account is disabled, 0 to 999; 0: never",
  disableAfterInactiveDays: "Days, 0 to 999",
  forcePasswordChangeDays: "Days, 0 to 999999",
  logoutOnInactive: "Minutes, 0 to 999",
  lowerCaseLetterCount: "Fewest of them in a password",
  upperCaseLetterCount: "Fewest of them in a password",
  numericCharacterCount: "Fewest of them in a password",
  specialCharacterCount: "Fewest of them in a password",
  passwordReuseDepth: "How many former passwords cannot be used again",
  coolDownPeriodDuration: "Seconds, 0 to 999",
  // The store spells it without the second n.
  automaticUserAccoutUnlockDuration: "Minutes, 0 to 999",
};

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
function fields<N extends string, S extends z.ZodType>(
  table: Readonly<Record<N, string>>,
  make: (description: string) => S,
): Record<N, S> {
  const entries = Object.entries<string>(table).map(([name, description]) => [name, make(description)]);
  return Object.fromEntries(entries) as Record<N, S>;
}

export const consoleSecurity = z.looseObject({
  ...fields(SECURITY_NUMBERS, answered.whole),
  ...fields(SECURITY_FLAGS, answered.flag),
  loginMessage: answered.text("Shown at the login of the store's console"),
  ipSettings: ipSettingsFromStore,
}).meta({ id: "ConsoleSecurity" });

export const consoleSecurityUpdate = z.looseObject({
  ...fields(SECURITY_NUMBERS, given.whole),
  ...fields(SECURITY_FLAGS, given.flag),
  loginMessage: given.text("Shown at the login of the store's console, at most 1024 characters"),
  ipSettings: ipSettingsToStore,
}).meta({ id: "ConsoleSecurityUpdate" });

export const contactInfo = z.looseObject(fields(CONTACT, answered.text)).meta({ id: "ContactInfo" });
export const contactInfoUpdate = z.looseObject(fields(CONTACT, given.text)).meta({ id: "ContactInfoUpdate" });

/** Most recipients of a notification. */
const MAX_RECIPIENTS = 25;

const recipient = z.looseObject({
  address: z.string().min(1).meta({ description: "One or several addresses, with commas" }),
  importance: z.enum(["ALL", "MAJOR"]).nullish(),
  severity: z.enum(["NOTICE", "WARNING", "ERROR"]).nullish(),
  type: given.text("Which of GENERAL, SECURITY and COMPLIANCE, with commas"),
}).meta({ id: "Recipient" });

const recipients = z.array(recipient).max(MAX_RECIPIENTS);

export const emailNotification = z.looseObject({
  enabled: answered.flag("Whether mails are sent"),
  emailTemplate: answered.open("`{from, subject, body}` of the mails"),
  recipients: answered.open("`{recipient: […]}`"),
}).meta({ id: "EmailNotification" });

export const emailNotificationUpdate = z.looseObject({
  enabled: given.flag("Whether mails are sent"),
  emailTemplate: z.looseObject({
    from: given.text("Sender; goes together with the subject"),
    subject: given.text("May hold variables such as `$severity`"),
    body: given.text("May hold variables such as `$fullText`"),
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
  ...fields(DEFAULT_TEXTS, answered.text),
  ...fields(DEFAULT_FLAGS, answered.flag),
  softQuota: answered.whole(SOFT_QUOTA),
  multipartUploadAutoAbortDays: answered.whole("Days, 0 to 180; 0: never"),
  versioningSettings: answered.open("Versioning of new namespaces"),
  dpl: answered.text("Data protection level"),
  effectiveDpl: answered.text("Data protection level in effect"),
}).meta({ id: "NamespaceDefaults" });

export const namespaceDefaultsUpdate = z.looseObject({
  ...fields(DEFAULT_TEXTS, given.text),
  ...fields(DEFAULT_FLAGS, given.flag),
  softQuota,
  multipartUploadAutoAbortDays: given.whole("Days, 0 to 180; 0: never"),
  versioningSettings: z.looseObject({}).nullish(),
}).meta({ id: "NamespaceDefaultsUpdate" });

export const searchSecurity = z.looseObject({ ipSettings: ipSettingsFromStore }).meta({ id: "SearchSecurity" });
export const searchSecurityUpdate = z.looseObject({ ipSettings: ipSettingsToStore })
  .meta({ id: "SearchSecurityUpdate" });

/** A document whose members are the store's own. */
export const openDocument = z.record(z.string(), z.unknown());

export const permissions = openDocument.meta({
  id: "Permissions",
  description: "Handed on as it is",
  examples: [{ permission: ["READ", "WRITE", "DELETE"] }],
});

/** CORS rules of a tenant or a namespace. */
export const cors = z.looseObject({ cors: answered.text("A CORSConfiguration, as XML") }).meta({ id: "CorsDocument" });
export const corsUpdate = z.object({
  cors: z.string().min(1).meta({
    description: "A CORSConfiguration, as XML",
    examples: [
      "<CORSConfiguration><CORSRule><AllowedOrigin>https://site.example.org</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>",
    ],
  }),
}).meta({ id: "CorsDocumentUpdate" });

export const servicePlan = z.looseObject({
  name: answered.text("The plan's name"),
  description: answered.text("What it does"),
}).meta({ id: "ServicePlan" });
