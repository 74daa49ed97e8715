import type { NewUser } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { newTenantRecord, newUser } from "@/embedded/store/default_records.ts";
import { passwordMd5, SYSTEM } from "@/embedded/store/stored_accounts.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { ALL_ROLES, markWithoutSamples, SAMPLE_PASSWORD } from "./sample_data.ts";

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
