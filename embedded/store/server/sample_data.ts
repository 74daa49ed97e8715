import { createHash, randomUUID } from "node:crypto";
import { type Permission, permissionMask, PERMISSIONS } from "@/embedded/store/access.ts";
import type { NewUser, Versioning } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { newNamespaceRecord, newTenantRecord, newUser } from "@/embedded/store/documents.ts";
import { CONVERTER, passwordMd5, RESULTS_TENANT, SYSTEM } from "@/embedded/store/stored_accounts.ts";
import type { Change } from "@/embedded/store/writer/reported_changes.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";

export { CONVERTER, RESULTS_TENANT };

/** The password of every sample account: known to all, which is why the embedded store listens on loopback only. */
export const SAMPLE_PASSWORD = "stackroom-demo";

/** The account with rights to read. */
export const SAMPLE_VISITOR = "archive/reader";

/** The sample accounts and what each opens, as the start and the login page show them. */
export const SAMPLE_LOGINS = [
  { login: SAMPLE_VISITOR, what: "campaigns: pages, texts, logs" },
  { login: "archive/curator", what: "campaigns, and the storage of archive" },
  { login: "research/researcher", what: "the storage of research, no campaigns" },
  { login: "admin", what: "the tenants of the store (API), no campaigns" },
] as const;

/** The bucket in which campaigns store their results. */
export const RESULTS_BUCKET = "campaigns";

/** The roles of an administrator of everything. */
const ALL_ROLES = ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"];

interface SampleUser {
  name: string;
  fullName: string;
  roles: string[];
  /** The user's permissions in each bucket of its tenant; `*` is every bucket. */
  permissions: Record<string, readonly Permission[]>;
}

interface SampleBucket {
  name: string;
  description: string;
  versioning: Versioning;
  /** Written in this order; null deletes the key. */
  objects: [key: string, text: string | null][];
}

const TENANTS: { name: string; description: string; users: SampleUser[]; buckets: SampleBucket[] }[] = [
  {
    name: RESULTS_TENANT,
    description: "Scanned collections and what was read from them",
    users: [
      { name: "curator", fullName: "Kerstin Åström", roles: ALL_ROLES, permissions: { "*": PERMISSIONS } },
      { name: "reader", fullName: "Olle Sjöberg", roles: ["MONITOR"], permissions: { campaigns: ["BROWSE", "READ"] } },
      {
        name: CONVERTER,
        fullName: "Campaign workers",
        roles: [],
        permissions: { campaigns: ["BROWSE", "READ", "WRITE", "DELETE"] },
      },
    ],
    buckets: [
      { name: RESULTS_BUCKET, description: "Results of campaigns", versioning: "off", objects: [] },
      {
        name: "letters",
        description: "Transcribed letters, without versions",
        versioning: "off",
        objects: [
          ["1794/Åbo, 3 maj.txt", "Högädle Herr Magister, jag har den äran att …\n"],
          ["1794/Svar + bilaga.txt", "Svaret kom med samma post som bilagan.\n"],
          ["1801/Öfversikt 50% klar.txt", "Hälften av breven är avskrivna.\n"],
        ],
      },
      {
        name: "maps",
        description: "Map sheets, with all their versions",
        versioning: "enabled",
        objects: [
          ["Malmöhus län/blad 1+2.txt", "Bladen 1 och 2, första avskriften.\n"],
          ["Malmöhus län/blad 1+2.txt", "Bladen 1 och 2, rättad avskrift.\n"],
          ["Malmöhus län/blad 3.txt", "Blad 3.\n"],
          ["utkast.txt", "Ett utkast som togs bort.\n"],
          ["utkast.txt", null],
        ],
      },
    ],
  },
  {
    name: "research",
    description: "Data sets made from the collections",
    users: [{
      name: "researcher",
      fullName: "Märta Löfgren",
      roles: ["ADMINISTRATOR", "MONITOR"],
      permissions: { "*": PERMISSIONS },
    }],
    buckets: [{
      name: "datasets",
      description: "Data sets, with all their versions",
      versioning: "enabled",
      objects: [["names/förnamn 1870.csv", "name,count\nÅke,12\nBrita,340\n"]],
    }],
  },
];

/**
 * Creates the sample tenants, users, buckets and objects, once in the life of a data folder; the start after an
 * interrupted one continues.
 *
 * @throws {DataFolderError} for a folder that was first started without samples
 */
export async function addSamples(store: StoreContext, converterPassword: string): Promise<void> {
  const done = doneFile(store.folder);
  const content = textIfExists(done);
  if (content === WITHOUT_SAMPLES) {
    throw new DataFolderError(
      `EMBEDDED_SAMPLES: the data folder ${store.folder} is in use without samples: set EMBEDDED_SAMPLES=off, or ` +
        "DATA_DIR to another folder.",
    );
  }
  if (content !== null) return;
  await addUser(store, SYSTEM, { name: "admin", fullName: "System administrator", roles: ALL_ROLES }, SAMPLE_PASSWORD);
  for (const tenant of TENANTS) {
    if (!store.accounts.tenant(tenant.name)) {
      await store.writer.change("createTenant", {
        name: tenant.name,
        record: JSON.stringify(
          newTenantRecord({ tenantVisibleDescription: tenant.description, administrationAllowed: true }),
        ),
        firstUser: null,
        atMs: store.now(),
      });
    }
    const id = store.accounts.tenant(tenant.name)?.id ?? SYSTEM;
    for (const user of tenant.users) {
      const password = user.name === CONVERTER ? converterPassword : SAMPLE_PASSWORD;
      await addUser(store, id, user, password);
    }
    const owner = store.accounts.user(id, tenant.users[0].name)?.id ?? null;
    for (const bucket of tenant.buckets) await addBucket(store, { tenant: id, owner }, bucket, tenant.users);
  }
  writeDurably(done, new Uint8Array());
}

/** Marks a data folder as one that gets no samples, whatever the settings of a later start are. */
function markWithoutSamples(folder: string): void {
  const done = doneFile(folder);
  if (textIfExists(done) !== WITHOUT_SAMPLES) writeDurably(done, new TextEncoder().encode(WITHOUT_SAMPLES));
}

/** The file that marks a data folder whose first accounts are there. An empty one stands for the samples. */
const doneFile = (folder: string) => `${folder}/samples.done`;

/** Versions without the setting add no samples either where the file exists. */
const WITHOUT_SAMPLES = "none\n";

async function addUser(
  store: StoreContext,
  tenant: number,
  { name, fullName, roles }: Omit<SampleUser, "permissions">,
  password: string,
): Promise<void> {
  if (store.accounts.user(tenant, name)) return;
  const user = newUser(name, passwordMd5(password), { fullName, roles: { role: roles } });
  await store.writer.change("createUser", { tenant, ...user });
}

async function addBucket(
  store: StoreContext,
  { tenant, owner }: { readonly tenant: number; readonly owner: number | null },
  sample: SampleBucket,
  users: readonly SampleUser[],
): Promise<void> {
  if (!store.buckets.bucket(tenant, sample.name)) {
    await store.writer.change("createBucket", {
      tenant,
      name: sample.name,
      guid: randomUUID(),
      owner,
      ownerPermissions: permissionMask(PERMISSIONS),
      versioning: sample.versioning,
      record: JSON.stringify(newNamespaceRecord({ description: sample.description })),
      atMs: store.now(),
    });
  }
  const bucket = store.buckets.bucket(tenant, sample.name);
  if (!bucket) return;
  for (const user of users) {
    const permissions = user.permissions[sample.name] ?? user.permissions["*"] ?? [];
    const id = store.accounts.user(tenant, user.name)?.id;
    if (id === undefined || permissions.length === 0) continue;
    const grants = [{ bucket: bucket.id, permissions: permissionMask(permissions) }];
    await store.writer.change("setGrants", { to: { user: id }, grants });
  }
  if (bucket.storedCount > 0) return;
  // In one transaction: an interrupted start leaves the bucket empty, and the next one fills it.
  const at = { bucket: bucket.id, owner, atMs: store.now() };
  await store.writer.changeAll(sample.objects.map(([key, text]) => sampleChange(at, key, text)));
}

function sampleChange(
  { bucket, owner, atMs }: { readonly bucket: number; readonly owner: number | null; readonly atMs: number },
  name: string,
  text: string | null,
): Change {
  const key = new TextEncoder().encode(name);
  if (text === null) return { kind: "deleteObjects", input: { bucket, objects: [{ key, version: null }], atMs } };
  const data = new TextEncoder().encode(text);
  return {
    kind: "putObject",
    input: {
      bucket,
      key,
      atMs,
      body: { data },
      size: data.length,
      etag: createHash("md5").update(data).digest("hex"),
      contentType: name.endsWith(".csv") ? "text/csv; charset=utf-8" : "text/plain; charset=utf-8",
      headers: null,
      checksums: null,
      tags: null,
      acl: null,
      owner,
      condition: null,
    },
  };
}

/** The first accounts of a store without samples. */
export interface Administrators {
  /** The administrator of the system level. */
  readonly system: PasswordFile;
  /** A tenant that exists after the start, and its administrator; null: none. */
  readonly tenant: { readonly name: string; readonly password: PasswordFile } | null;
  /** Whether clients beyond this machine reach the store. */
  readonly isPublic: boolean;
}

/** A file with a password on its first line. It is read for an account that is to be created. */
interface PasswordFile {
  /** The setting that names it, for messages. */
  readonly variable: string;
  /** Null where the setting is unset. */
  readonly path: string | null;
}

/** Name of the administrator of a level. */
const ADMINISTRATOR = "admin";
const MIN_PASSWORD_CHARACTERS = 12;
/** The longest that the management API allows. */
const MAX_PASSWORD_CHARACTERS = 64;
const WANTED = `a file with a password of ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`;
/** The bits of a mode that concern users who are neither the owner nor of the group. */
const OTHERS = 0o007;

/**
 * Creates the first accounts of a store without samples: the administrator of the system level where that has no users,
 * and the tenant with its administrator where it is missing. An administrator of the system level that has the public
 * password of the samples gets the one of the file.
 *
 * @param warn receives lines for the operator
 * @throws {DataFolderError} for a missing or unusable password; and where accounts have the public password of the
 *   samples although clients beyond this machine reach the store, in which case nothing is written
 */
export async function addAdministrators(
  store: StoreContext,
  { system, tenant, isPublic }: Administrators,
  warn: (line: string) => void,
): Promise<void> {
  const { accounts, writer } = store;
  const publicMd5 = passwordMd5(SAMPLE_PASSWORD);
  const former = accounts.user(SYSTEM, ADMINISTRATOR);
  const isReplaced = former?.passwordMd5 === publicMd5 && system.path !== null;
  const levels = [
    { id: SYSTEM, prefix: "" },
    ...accounts.tenants().map(({ id, name }) => ({ id, prefix: `${name}/` })),
  ];
  const exposed = levels.flatMap(({ id, prefix }) =>
    accounts.users(id)
      .filter((user) => user.passwordMd5 === publicMd5 && !(isReplaced && user.id === former.id))
      .map(({ name }) => `${prefix}${name}`)
  );
  const line = `EMBEDDED_SAMPLES: accounts still have the public password of the samples (${exposed.join(", ")}): ` +
    "change their passwords or delete them";
  // Before anything is written: a folder with samples stays one.
  if (exposed.length > 0 && isPublic) {
    throw new DataFolderError(`${line}, with everything on loopback, before others may reach the store.`);
  }

  if (accounts.users(SYSTEM).length === 0) {
    await writer.change("createUser", { tenant: SYSTEM, ...administrator("System administrator", system, warn) });
  } else if (isReplaced) {
    await writer.change("modifyUser", { user: former.id, record: {}, passwordMd5: md5Of(system, warn), unlock: true });
  }
  if (tenant !== null && !accounts.tenant(tenant.name)) {
    await writer.change("createTenant", {
      name: tenant.name,
      // Its administrator's password can be set by that of the system level, which is the same operator.
      record: JSON.stringify(newTenantRecord({ administrationAllowed: true })),
      firstUser: administrator(`Administrator of ${tenant.name}`, tenant.password, warn),
      atMs: store.now(),
    });
  }
  markWithoutSamples(store.folder);
  if (exposed.length > 0) warn(`${line} before others may reach the store.`);
}

function administrator(fullName: string, file: PasswordFile, warn: (line: string) => void): NewUser {
  return newUser(ADMINISTRATOR, md5Of(file, warn), { fullName, roles: { role: ALL_ROLES } });
}

function md5Of({ variable, path }: PasswordFile, warn: (line: string) => void): string {
  if (path === null) {
    throw new DataFolderError(`${variable}: is required for the first start without samples: name ${WANTED}.`);
  }
  let password: string;
  try {
    password = Deno.readTextFileSync(path).split(/\r?\n/, 1)[0];
    const { mode } = Deno.statSync(path);
    if (mode !== null && (mode & OTHERS) !== 0) {
      warn(`${variable}: every user of this machine can read ${path}: run chmod 600 ${path}`);
    }
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "there is no file" : "cannot read";
    throw new DataFolderError(`${variable}: ${reason} ${JSON.stringify(path)}: name ${WANTED}.`);
  }
  const characters = [...password].length;
  if (characters < MIN_PASSWORD_CHARACTERS || characters > MAX_PASSWORD_CHARACTERS) {
    throw new DataFolderError(`${variable}: the first line of ${path} has ${characters} characters: name ${WANTED}.`);
  }
  if (password === SAMPLE_PASSWORD) {
    throw new DataFolderError(`${variable}: ${path} holds the public password of the samples: name ${WANTED}.`);
  }
  return passwordMd5(password);
}
