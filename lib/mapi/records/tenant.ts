import { z } from "zod";
import { isObject } from "@/lib/std/untrusted.ts";
import {
  AUTO_ABORT_DAYS,
  className,
  DESCRIPTION,
  given,
  GROUPNAME,
  hardQuota,
  hostLabel,
  ipSettings,
  isText,
  MAX_LISTED,
  member,
  NAMESPACE_QUOTA,
  NAMESPACE_SOFT_QUOTA,
  namespaceName,
  NAMESPACES_PER_USER,
  NOTICE_TYPES,
  PASSWORD,
  PASSWORD_RULES,
  printable,
  returned,
  SERVICE_PLAN,
  settingsDocument,
  sideOf,
  softQuota,
  tags,
  username,
  wrappedList,
} from "./fields.ts";
import { DIRECTORY_USAGES, HASH_SCHEMES, versioningGiven } from "./namespace.ts";

/** Members of a tenant that its creation sets. */
const SET_ONCE = {
  systemVisibleDescription: member.text("Description for system administrators", DESCRIPTION),
  hardQuota,
  softQuota: softQuota(),
  namespaceQuota: {
    returned: z.preprocess((value) => typeof value === "number" ? String(value) : value, z.string())
      .meta({ type: "string" }).nullable().default(null).meta({
        description: "Maximum number of namespaces, or `None`",
      }),
    given: z.union([z.string().meta({ ...NAMESPACE_QUOTA }), z.int().min(1).meta({ maximum: 10_000 })]).nullish()
      .meta({ description: "Maximum number of namespaces, or `None`", examples: ["100"] }),
  },
  servicePlan: member.text("Name of the service plan", SERVICE_PLAN),
  authenticationTypes: {
    returned: returned.open("`{authenticationType: […]}` of LOCAL, RADIUS, EXTERNAL"),
    given: wrappedList("authenticationType", z.enum(["LOCAL", "RADIUS", "EXTERNAL"])).nullish(),
  },
  complianceConfigurationEnabled: member.flag("Whether its administrators may set retention"),
  versioningConfigurationEnabled: member.flag("Whether its administrators may set versioning"),
  searchConfigurationEnabled: member.flag("Whether its administrators may set searching"),
  replicationConfigurationEnabled: member.flag("Whether its administrators may set replication"),
  erasureCodingSelectionEnabled: member.flag("Whether its administrators may select erasure coding"),
  servicePlanSelectionEnabled: member.flag("Whether its administrators may select service plans"),
};

/** Members that a change sets. */
const CHANGED = {
  administrationAllowed: member.flag("Whether system administrators may access the tenant"),
  maxNamespacesPerUser: member.whole("Maximum number of namespaces per owner", NAMESPACES_PER_USER),
  snmpLoggingEnabled: member.flag("Whether its events go to SNMP"),
  syslogLoggingEnabled: member.flag("Whether its events go to syslog"),
};

/** Members that both set. */
const EITHER = {
  tenantVisibleDescription: member.text("Description for the tenant's administrators", DESCRIPTION),
  tags,
};

/** A tenant as the store returns it; what `verbose` hides is null. */
export const tenant = z.looseObject({
  name: returned.text("The tenant's name"),
  ...sideOf("returned", { ...SET_ONCE, ...CHANGED, ...EITHER }),
  softwareVersion: z.string().optional().meta({ description: "Version of the store's software" }),
}).meta({ id: "Tenant" });

/** Body of a tenant's creation (spec, TenantCreate); members beyond these are dropped. */
export const tenantCreate = z.object({
  name: hostLabel.meta({ description: "Unique", examples: ["museum"] }),
  ...sideOf("given", { ...SET_ONCE, ...EITHER }),
  dataNetwork: given.text("Name of the network of its data"),
  managementNetwork: given.text("Name of the network of its administration"),
}).meta({ id: "TenantCreate", examples: [{ name: "museum", hardQuota: "50 GB", namespaceQuota: "100" }] });

/** Query of a tenant's creation: its first administrator. */
export const tenantCreateQuery = z.object({
  username: username.meta({ description: "User name of the first administrator", examples: ["lena"] }),
  password: z.string().min(1).meta({
    ...PASSWORD,
    examples: ["gryning-47"],
    description: `Password of the first administrator: ${PASSWORD_RULES}`,
  }),
  forcePasswordChange: z.boolean().default(false).meta({
    description: "Require a new password at the first login",
  }),
  initialSecurityGroup: z.string().min(1).meta({ ...GROUPNAME }).optional().meta({
    description: "A directory group with the SECURITY role",
  }),
});

/** Body of a tenant's change. */
export const tenantUpdate = z.object(sideOf("given", { ...CHANGED, ...EITHER }))
  .meta({ id: "TenantUpdate", examples: [{ tenantVisibleDescription: "What the museum has photographed" }] });

const upTo = (maximum: number) => ({ minimum: 0, maximum });

export const consoleSecurity = settingsDocument("ConsoleSecurity", {
  minimumPasswordLength: member.whole("Minimum length of passwords, characters", { minimum: 2, maximum: 64 }),
  disableAfterAttempts: member.whole("Failed logins until the account is disabled; 0: never", upTo(999)),
  disableAfterInactiveDays: member.whole("Days without login until the account is disabled", upTo(999)),
  forcePasswordChangeDays: member.whole("Days until a password must be changed", upTo(999_999)),
  logoutOnInactive: member.whole("Minutes without activity until a session ends", upTo(999)),
  lowerCaseLetterCount: member.whole("Minimum number of lower-case letters in a password", upTo(64)),
  upperCaseLetterCount: member.whole("Minimum number of upper-case letters in a password", upTo(64)),
  numericCharacterCount: member.whole("Minimum number of digits in a password", upTo(64)),
  specialCharacterCount: member.whole("Minimum number of other characters in a password", upTo(64)),
  passwordReuseDepth: member.whole("Number of former passwords that cannot be reused", upTo(100)),
  coolDownPeriodDuration: member.whole("Cool-down after failed logins, seconds", upTo(999)),
  // The store spells it without the second n.
  automaticUserAccoutUnlockDuration: member.whole("Minutes until a disabled account is enabled again", upTo(999)),
  automaticUserAccountUnlockSetting: member.flag("Whether disabled accounts are enabled again automatically"),
  blockCommonPassword: member.flag("Whether common passwords are refused"),
  blockPasswordReUse: member.flag("Whether former passwords are refused"),
  coolDownPeriodSettings: member.flag("Whether failed logins are slowed down"),
  passwordCombination: member.flag("Whether the minimum numbers of characters apply"),
  passwordContainsUsername: member.flag("Whether a password may contain the user name"),
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
  address: z.string().min(1).meta({ ...printable(1024), description: "One or more addresses, comma-separated" }),
  importance: z.enum(["ALL", "MAJOR"]).nullish(),
  severity: z.enum(["NOTICE", "WARNING", "ERROR"]).nullish(),
  type: given.text("GENERAL, SECURITY and COMPLIANCE, comma-separated", NOTICE_TYPES),
}).meta({ id: "Recipient" });

const recipients = z.array(recipient).max(MAX_RECIPIENTS);

const emailTemplate = z.looseObject({
  from: given.text("Sender; required with a subject", printable(256)),
  subject: given.text("May contain variables such as `$severity`", printable(1024)),
  body: given.text("May contain variables such as `$fullText`", printable(10_000)),
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
    ]).nullish().meta({ description: "All recipients, at most 25; `{recipient: […]}` is accepted too" }),
  },
});

export const namespaceDefaults = settingsDocument("NamespaceDefaults", {
  description: member.text("Description of new namespaces", DESCRIPTION),
  hashScheme: member.text("Digest that names objects, such as SHA-256", { enum: HASH_SCHEMES }),
  hardQuota,
  softQuota: softQuota(NAMESPACE_SOFT_QUOTA),
  servicePlan: member.text("Name of the service plan", SERVICE_PLAN),
  optimizedFor: member.text("CLOUD, ALL or DEFAULT", { enum: ["CLOUD", "ALL", "DEFAULT"] }),
  directoryUsage: member.text("Balanced, Unbalanced or Default", { enum: DIRECTORY_USAGES }),
  retentionType: member.text("HCP or S3", { enum: ["HCP", "S3"] }),
  enterpriseMode: member.flag("Whether privileged deletes are possible"),
  allowErasureCoding: member.flag("Whether objects may be erasure coded"),
  replicationEnabled: member.flag("Whether namespaces are replicated"),
  searchEnabled: member.flag("Whether namespaces can be searched"),
  s3UnversionedOverwrite: member.flag("Whether S3 may overwrite objects where versioning is off"),
  multipartUploadAutoAbortDays: member.whole("Days; 0: never", AUTO_ABORT_DAYS),
  versioningSettings: { returned: returned.open("Versioning of new namespaces"), given: versioningGiven },
  dpl: { returned: returned.text("Data protection level") },
  effectiveDpl: { returned: returned.text("Data protection level in effect") },
}, { examples: [{ hardQuota: "50 GB", softQuota: 85 }] });

export const searchSecurity = settingsDocument("SearchSecurity", { ipSettings });

const openPermissions = z.record(z.string(), z.unknown()).meta({
  id: "Permissions",
  description: "Passed on unchanged",
  examples: [{ permission: ["READ", "WRITE", "DELETE", "PRIVILEGED", "PURGE", "SEARCH"] }],
});

/** Permissions of a tenant or a namespace: a document whose members are the store's own. */
export const permissions = { schema: openPermissions, update: openPermissions } as const;

/** White space of XML. */
const S = "[ \\t\\r\\n]*";

const element = (name: string, content: string) => `<${name}>${S}${content}${S}</${name}>`;

/** Text with one `*` at most. */
const withWildcard = (character: string) => `(?:${character}+(?:\\*${character}*)?|\\*${character}*)`;

/** A character of a field name (RFC 9110, section 5.1) but `*`, and but `&`, which XML escapes. */
const FIELD_NAME = "[!#$%'+.^_`|~0-9A-Za-z-]";
/** Visible ASCII but `*` and what XML escapes. */
const ORIGIN = "[!-%'-)+-;=?-~]";

const ALLOWED_ORIGIN = element("AllowedOrigin", withWildcard(ORIGIN));
const ALLOWED_METHOD = element("AllowedMethod", "(?:GET|PUT|POST|DELETE|HEAD)");
const HEADER = `(?:${element("AllowedHeader", withWildcard(FIELD_NAME))}|${element("ExposeHeader", `${FIELD_NAME}+`)})`;
const ID = `(?:<ID>[^<>&\\u0000-\\u001f]{0,255}</ID>${S})`;
const MAX_AGE = `(?:${element("MaxAgeSeconds", "[0-9]{1,9}")}${S})`;

const ANY = `(?:(?:${ALLOWED_ORIGIN}|${ALLOWED_METHOD}|${HEADER})${S})*`;
/** An origin and a method at least, in any order. */
const PARTIES = ANY +
  `(?:${ALLOWED_ORIGIN}${S}${ANY}${ALLOWED_METHOD}|${ALLOWED_METHOD}${S}${ANY}${ALLOWED_ORIGIN})${S}${ANY}`;
const RULE =
  `<CORSRule>${S}(?:${ID}?${PARTIES}(?:${MAX_AGE}(?:${HEADER}${S})*)?|${PARTIES}${ID}${MAX_AGE}?)</CORSRule>`;

/**
 * CORS rules in XML, in the orders that S3's documentation and clients write. A regular expression cannot say all that XML
 * allows: the store also takes other orders, references and attributes.
 */
export const CORS_CONFIGURATION = {
  pattern: `^${S}(?:<\\?xml [^<>?]*\\?>${S})?<CORSConfiguration(?: xmlns="[^"<>&]*")?>${S}(?:${RULE}${S}){1,100}` +
    `</CORSConfiguration>${S}$`,
} as const;

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
  description: returned.text("Description of the plan"),
}).meta({ id: "ServicePlan" });

/** Most properties of one class; their names differ. */
const MAX_PROPERTIES = 1000;

const contentProperty = z.object({
  name: z.string().min(1).max(25).regex(/^[A-Za-z0-9_]+$/, "Names of properties have letters, digits and underscores"),
  expression: z.string().min(1).meta({ ...printable(1024), description: "An XPath expression" }),
  type: z.string().min(1).meta({
    enum: ["STRING", "INTEGER", "BOOLEAN", "DATE", "DATETIME", "FLOAT", "FULLTEXT"],
    description: "Type of the values",
  }),
  multivalued: z.boolean().nullish().meta({ description: "Whether it may have several values; false when absent" }),
  format: given.text("Format of dates and numbers", printable(256)),
}).meta({ id: "ContentProperty" });

const properties = z.array(contentProperty).max(MAX_LISTED).meta({ maxItems: MAX_PROPERTIES });
const names = z.array(namespaceName).max(MAX_LISTED);

/** Lists come with or without the store's wrapping; they go on without. */
const givenProperties = z.union([
  properties,
  z.object({ contentProperty: properties }).transform(({ contentProperty }) => contentProperty),
]).nullish();
const givenNames = z.union([names, z.object({ name: names }).transform(({ name }) => name)]).nullish();

const TITLE = { name: "title", expression: "/note/title", type: "STRING" };

/** Body of a content class's change; both lists replace what was there. */
export const contentClassUpdate = z.object({
  contentProperties: givenProperties,
  namespaces: givenNames.meta({ description: "Names of the namespaces whose objects it describes" }),
}).meta({ id: "ContentClassUpdate", examples: [{ contentProperties: [TITLE] }] });

export const contentClassCreate = z.object({
  name: className.meta({ examples: ["notes"] }),
  ...contentClassUpdate.shape,
}).meta({ id: "ContentClassCreate", examples: [{ name: "notes", contentProperties: [TITLE] }] });

/** A list of a response, unwrapped where it is an object with that one member. */
function unwrapped(member: string) {
  return z.preprocess(
    (value) => isObject(value) && Array.isArray(value[member]) ? value[member] : value,
    z.array(z.unknown()),
  ).meta({ type: "array" }).nullable().default(null);
}

export const contentClass = z.looseObject({
  name: z.string().nullable().default(null),
  contentProperties: unwrapped("contentProperty"),
  namespaces: unwrapped("name"),
}).meta({ id: "ContentClass" });
