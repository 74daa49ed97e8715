import { z } from "zod";
import { addressBlock, EVERY_ADDRESS, MASK_FLAGS, MASK_NAMES } from "@/embedded/store/access.ts";
import {
  CONSOLE_SECURITY_DEFAULTS as CONSOLE,
  type Document,
  mergedDocument,
  NAMESPACE_DEFAULTS,
} from "@/embedded/store/documents.ts";
import { parseCorsRules } from "@/embedded/store/s3/cors.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { retention } from "./classes.ts";
import {
  conflicting,
  invalid,
  type MapiMethods,
  notFound,
  permittedNamespace,
  readableNamespace,
  requireRight,
  type Right,
  type TenantRequest,
} from "./mapi_request.ts";
import { NAMESPACE_SETTINGS, versioningSettings } from "./namespace_handlers.ts";
import {
  boolean,
  each,
  integer,
  isVerbose,
  list,
  listed,
  MAX_WORDS,
  members,
  names,
  oneOf,
  parsed,
  rule,
  text,
} from "./request_schema.ts";

/** A settings document, of which a tenant or a namespace has one: read with GET, changed with POST. */
interface SettingsDocument {
  /** Its path below the tenant or the namespace. */
  readonly kind: string;
  readonly schema: z.ZodType<Document>;
  readonly defaults: Readonly<Record<string, unknown>>;
  /**
   * Who may read it ("read" by default), and who may change it ("administer" by default). Owners of a namespace may do
   * both, unless a special right is needed.
   */
  readonly read?: Right;
  readonly write?: Right;
  /** Members that cannot be set, shown in the verbose form. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /**
   * Checks the members of a change against the rest of the tenant.
   *
   * @throws {MapiError} 409
   */
  readonly check?: (change: Readonly<Document>, request: TenantRequest) => void;
}

/** The methods of a document of the tenant, or of the namespace that the path names. */
export function documentMethods(definition: SettingsDocument, level: "tenant" | "namespace"): MapiMethods {
  const { kind, schema, defaults, fixed, check, read = "read", write = "administer" } = definition;
  const scope = (request: TenantRequest, right: Right) => {
    // The owner of a namespace needs no right, but for what takes a special one.
    if (level === "tenant" || !["read", "administer"].includes(right)) requireRight(request.caller, right);
    const bucket = level === "tenant" ? 0 : permittedNamespace(request, right).id;
    return { tenant: request.tenant.id, bucket, kind };
  };
  return {
    GET: (request) => {
      const document = request.store.documents.document(scope(request, read));
      return Response.json({
        ...mergedDocument(defaults, document ?? {}),
        ...(fixed && isVerbose(request.query) ? fixed : {}),
      });
    },
    POST: async (request) => {
      const at = scope(request, write);
      const document = parsed(schema, await request.body());
      check?.(document, request);
      await request.store.writer.change("setDocument", { ...at, name: "", mode: "set", document });
    },
  };
}

/** The permissions that a tenant or a namespace allows, in either form of the document. */
const permissionsDocument: SettingsDocument = {
  kind: "permissions",
  schema: members({
    permission: list(oneOf(...MASK_NAMES), MAX_WORDS).transform((names) => [...new Set(names)]),
    ...each(Object.keys(MASK_FLAGS), boolean),
  }),
  defaults: { permission: MASK_NAMES },
};

/** Most entries of one list. */
const MAX_ADDRESSES = 1000;

/** Characters of one entry. */
const MAX_ENTRY_LENGTH = 1000;

const ENTRY = "must be an address, an address/mask or a CIDR block, or several with commas";

const addresses = listed(
  "ipAddress",
  z.string(rule(ENTRY)).refine(
    (entry) => entry.length <= MAX_ENTRY_LENGTH && entry.split(",").every((one) => addressBlock(one) !== null),
    ENTRY,
  ),
  MAX_ADDRESSES,
).transform((ipAddress) => ({ ipAddress }));

/** Address rules. */
const ipSettings = members({
  allowAddresses: addresses,
  denyAddresses: addresses,
  allowIfInBothLists: boolean,
});

/** Every address may come in. */
const IP_SETTINGS = {
  allowAddresses: { ipAddress: [EVERY_ADDRESS] },
  denyAddresses: { ipAddress: [] },
  allowIfInBothLists: true,
};

const CONTACT = ("firstName lastName emailAddress primaryPhone extension address1 address2 city state " +
  "zipOrPostalCode countryOrRegion").split(" ");

/** Most recipients of notifications. */
const MAX_RECIPIENTS = 25;

/** The subjects of notifications. */
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
    ...settings("consoleSecurity", {
      minimumPasswordLength: [integer(2, 64), CONSOLE.minimumPasswordLength],
      passwordCombination: [boolean, CONSOLE.passwordCombination],
      lowerCaseLetterCount: [integer(0, 64), CONSOLE.lowerCaseLetterCount],
      upperCaseLetterCount: [integer(0, 64), CONSOLE.upperCaseLetterCount],
      numericCharacterCount: [integer(0, 64), CONSOLE.numericCharacterCount],
      specialCharacterCount: [integer(0, 64), CONSOLE.specialCharacterCount],
      passwordContainsUsername: [boolean, CONSOLE.passwordContainsUsername],
      blockCommonPassword: [boolean, CONSOLE.blockCommonPassword],
      blockPasswordReUse: [boolean, CONSOLE.blockPasswordReUse],
      passwordReuseDepth: [integer(0, 100), CONSOLE.passwordReuseDepth],
      disableAfterAttempts: [integer(0, 999), CONSOLE.disableAfterAttempts],
      automaticUserAccountUnlockSetting: [boolean, CONSOLE.automaticUserAccountUnlockSetting],
      automaticUserAccoutUnlockDuration: [integer(0, 999), CONSOLE.automaticUserAccoutUnlockDuration],
      disableAfterInactiveDays: [integer(0, 999), 180],
      forcePasswordChangeDays: [integer(0, 999_999), 180],
      logoutOnInactive: [integer(0, 999), 10],
      coolDownPeriodSettings: [boolean, false],
      coolDownPeriodDuration: [integer(0, 999), 5],
      loginMessage: [text(1024), ""],
      ipSettings: [ipSettings, IP_SETTINGS],
    }),
    read: "manage users",
    write: "manage users",
  },
  { kind: "contactInfo", schema: members(each(CONTACT, text(256))), defaults: each(CONTACT, "") },
  settings("emailNotification", {
    enabled: [boolean, false],
    emailTemplate: [emailTemplate, TEMPLATE],
    recipients: [recipients, { recipient: [] }],
  }),
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
    ...settings("searchSecurity", { ipSettings: [ipSettings, IP_SETTINGS] }),
    read: "manage users",
    write: "manage users",
  },
  permissionsDocument,
];

/** Largest number of a user or group of NFS. */
const MAX_NFS_ID = 4_294_967_295;

/** Most days until the loser of a collision is deleted. */
const MAX_DELETE_DAYS = 36_500;

/** The settings documents of a namespace, without versioningSettings, which are columns of the bucket. */
export const NAMESPACE_DOCUMENTS: readonly SettingsDocument[] = [
  {
    ...settings("complianceSettings", {
      retentionDefault: [retention(true), "0"],
      minimumRetentionAfterInitialUnspecified: [retention(false), "0"],
      shreddingDefault: [boolean, false],
      customMetadataChanges: [oneOf("ADD", "ALL", "NONE"), "ALL"],
      dispositionEnabled: [boolean, false],
    }),
    write: "comply",
  },
  permissionsDocument,
  {
    ...settings("customMetadataIndexingSettings", {
      contentClasses: [names, []],
      fullIndexingEnabled: [boolean, false],
      excludedAnnotations: [text(1024), ""],
    }),
    check: requireContentClasses,
  },
  settings("replicationCollisionSettings", {
    action: [oneOf("MOVE", "RENAME"), "MOVE"],
    deleteDays: [integer(0, MAX_DELETE_DAYS), 0],
    deleteEnabled: [boolean, false],
  }),
  // Without webdavBasicAuthPassword: there is no WebDAV, and what is not used need not be stored.
  settings("protocols/http", {
    httpsEnabled: [boolean, true],
    httpEnabled: [boolean, true],
    restEnabled: [boolean, true],
    restRequiresAuthentication: [boolean, true],
    hs3Enabled: [boolean, true],
    hs3RequiresAuthentication: [boolean, false],
    httpActiveDirectorySSOEnabled: [boolean, false],
    webdavEnabled: [boolean, false],
    webdavBasicAuthEnabled: [boolean, false],
    webdavBasicAuthUsername: [text(64), ""],
    webdavCustomMetadata: [boolean, false],
    ipSettings: [ipSettings, IP_SETTINGS],
  }),
  settings("protocols/cifs", {
    enabled: [boolean, false],
    caseForcing: [oneOf("UPPER", "LOWER", "DISABLED"), "DISABLED"],
    caseSensitive: [boolean, true],
    requiresAuthentication: [boolean, true],
    ipSettings: [ipSettings, IP_SETTINGS],
  }),
  settings("protocols/nfs", {
    enabled: [boolean, false],
    uid: [integer(0, MAX_NFS_ID), 0],
    gid: [integer(0, MAX_NFS_ID), 0],
    ipSettings: [ipSettings, IP_SETTINGS],
  }),
  settings("protocols/smtp", {
    enabled: [boolean, false],
    emailFormat: [oneOf(".eml", ".mbox"), ".eml"],
    emailLocation: [text(1024), "/email/"],
    separateAttachments: [boolean, false],
    ipSettings: [ipSettings, IP_SETTINGS],
  }),
];

/** A document by its members, each with its schema and its default. */
function settings(kind: string, all: Readonly<Record<string, readonly [z.ZodType, unknown]>>): SettingsDocument {
  const entries = Object.entries(all);
  return {
    kind,
    schema: members(Object.fromEntries(entries.map(([name, [schema]]) => [name, schema]))),
    defaults: Object.fromEntries(entries.map(([name, [, value]]) => [name, value])),
  };
}

function requireContentClasses({ contentClasses }: Readonly<Document>, { store, tenant }: TenantRequest) {
  if (!Array.isArray(contentClasses)) return;
  for (const name of contentClasses) {
    if (!store.documents.document({ tenant: tenant.id, bucket: 0, kind: "contentClasses" }, String(name))) {
      throw conflicting("contentClasses", "may name only content classes of the tenant");
    }
  }
}

/**
 * The CORS rules of the tenant, which hold for namespaces without rules of their own, or of the namespace that the path
 * names: null where there are none, which DELETE answers with 404.
 */
export function corsMethods(level: "tenant" | "namespace"): MapiMethods {
  const permitted = (request: TenantRequest, right: Right): { tenant: number } | { bucket: number } => {
    if (right === "administer" || level === "tenant") requireRight(request.caller, right);
    return level === "tenant" ? { tenant: request.tenant.id } : { bucket: readableNamespace(request).id };
  };
  return {
    GET: (request) => Response.json({ cors: request.store.buckets.cors(permitted(request, "read")) }),
    PUT: async (request) => {
      const of = permitted(request, "administer");
      await request.store.writer.change("setCors", { of, cors: corsRules(await request.body()) });
    },
    DELETE: async (request) => {
      const of = permitted(request, "administer");
      const { hadRules } = await request.store.writer.change("setCors", { of, cors: null });
      if (!hadRules) throw notFound("cors");
    },
  };
}

/**
 * The XML of a body such as `{"cors": "<CORSConfiguration>…"}`, stored unchanged.
 *
 * @throws {MapiError} 400
 */
function corsRules({ cors }: Record<string, unknown>): string {
  if (typeof cors !== "string") throw invalid("cors", "must be a string with a CORSConfiguration in XML");
  try {
    parseCorsRules(cors);
  } catch (error) {
    if (error instanceof StoreError) throw invalid("cors", `is not valid: ${error.message}`);
    throw error;
  }
  return cors;
}
