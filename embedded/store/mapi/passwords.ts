import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { CONSOLE_SECURITY_DEFAULTS, type ConsoleSecurity, consoleSecurity } from "@/embedded/store/documents.ts";
import { folded } from "@/embedded/store/names.ts";
import { mustChangePassword, passwordMd5, rolesOf, type User } from "@/embedded/store/stored_accounts.ts";
import type { Change } from "@/embedded/store/writer/reported_changes.ts";
import {
  forbidden,
  has,
  invalid,
  isAdministrator,
  isPassword,
  MapiError,
  type MapiRequest,
  permittedUser,
  requireRight,
  type TenantRequest,
} from "./mapi_request.ts";

/**
 * POST /tenants/{tenant}/userAccounts/{user}/changePassword: the caller's own with the old one, any user's with the
 * right to manage users. The S3 secret key changes with it. Changing one's own is what `forcePasswordChange` waits for.
 */
export async function changePassword(request: TenantRequest): Promise<void> {
  const { store, caller, body } = request;
  const user = permittedUser(request, "manage users");
  const isOwn = user.id === caller.user.id;
  const { oldPassword, newPassword } = await body();
  const hasOld = typeof oldPassword === "string";
  if (!hasOld && !has(caller, "manage users")) throw new MapiError(403, "oldPassword is required");
  if (hasOld) {
    const md5 = passwordMd5(oldPassword);
    const known = await store.logins.attempt(() => store.accounts.userById(user.id), (user) => isPassword(user, md5));
    if (known === "closed" || known === "wrong") throw new MapiError(403, "oldPassword is not the present password");
  }
  const md5 = checkedMd5(user, newPassword, request, "newPassword");
  if (isOwn && mustChangePassword(user) && md5 === user.passwordMd5) {
    throw invalid("newPassword", "must differ from the present password");
  }
  await store.writer.change("modifyUser", {
    user: user.id,
    // A password that another user sets does not fulfil forcePasswordChange.
    record: isOwn ? { forcePasswordChange: false } : {},
    passwordMd5: md5,
    unlock: true,
  });
}

/** POST /tenants/{tenant}/userAccounts?resetPasswords=: one new password for every local user with SECURITY. */
export async function resetPasswords(request: TenantRequest): Promise<void> {
  const { store, caller, query, tenant } = request;
  requireRight(caller, "manage users");
  await request.body();
  const password = query.get("resetPasswords");
  if (password === null) throw new MapiError(400, "resetPasswords is required");
  const users = store.accounts.users(tenant.id).filter((user) =>
    user.record.localAuthentication !== false && rolesOf(user).includes("SECURITY")
  );
  // All are checked before one is changed.
  const changes = users.map((user): Change => ({
    kind: "modifyUser",
    input: {
      user: user.id,
      record: {},
      passwordMd5: checkedMd5(user, password, request, "resetPasswords"),
      unlock: true,
    },
  }));
  if (changes.length > 0) await store.writer.changeAll(changes);
}

/**
 * The MD5 of a user's new password.
 *
 * @throws {MapiError} 400 where it breaks the rules; 403 for a user without a password in the store, and for an
 *   administrator's where the caller is none
 */
export function checkedMd5(user: User, password: unknown, { store, caller }: MapiRequest, member: string): string {
  if (user.record.localAuthentication === false) throw forbidden();
  if (user.id !== caller.user.id && !has(caller, "administer")) {
    const records = [user, ...store.accounts.groupsOf(user.id)].map(({ record }) => record);
    if (records.some(isAdministrator)) {
      throw new MapiError(403, "Only an ADMINISTRATOR may set the password of an account that has this role");
    }
  }
  const former = [user.passwordMd5, ...store.accounts.formerPasswords(user.id)];
  return newPasswordMd5(store, user, password, { former, member });
}

const MAX_LENGTH = 64;

/** The most common passwords that the other rules allow, in lower case. */
const COMMON = new Set(
  "123abc 1q2w3e 1q2w3e4r 1q2w3e4r5t a123456 aa123456 abc123 abcd1234 admin123 changeme1 letmein1 p@ssw0rd p@ssword \
passw0rd password! password1 password12 password123 qwe123 qwerty1 qwerty123 welcome1 welcome123 zaq12wsx".split(" "),
);

/**
 * The MD5 of a new password, as the store stores it. `former` are the MD5s of the present password and those before it,
 * the newest first.
 *
 * @param user `tenant` is null where the tenant is being created
 * @throws {MapiError} 400 where it breaks the store's rules or the tenant's
 */
export function newPasswordMd5(
  { documents, publicPasswords }: StoreContext,
  user: { readonly tenant: number | null; readonly name: string },
  password: unknown,
  { former = [], member = "password" }: { former?: readonly string[]; member?: string } = {},
): string {
  const rules = user.tenant === null ? CONSOLE_SECURITY_DEFAULTS : consoleSecurity(documents, user.tenant);
  if (typeof password !== "string") throw invalid(member, "is required");
  const { minimumPasswordLength } = rules;
  const characters = [...password].length;
  if (characters < minimumPasswordLength || characters > MAX_LENGTH) {
    throw invalid(member, `must have ${minimumPasswordLength} to ${MAX_LENGTH} characters`);
  }
  const kinds = [/\p{L}/u, /\p{Nd}/u, /[^\p{L}\p{Nd}]/u].filter((kind) => kind.test(password));
  if (kinds.length < 2) throw invalid(member, "must mix at least two of letters, digits and other characters");
  if (rules.passwordCombination) requireCharacterCounts(password, rules, member);
  if (!rules.passwordContainsUsername && folded(password).includes(folded(user.name))) {
    throw invalid(member, "must not hold the user name");
  }
  if (rules.blockCommonPassword && COMMON.has(password.toLowerCase())) {
    throw invalid(member, "is one of the most common ones");
  }
  const md5 = passwordMd5(password);
  if (publicPasswords.includes(md5)) throw invalid(member, "is the public one of the samples");
  if (rules.blockPasswordReUse && former.slice(0, rules.passwordReuseDepth).includes(md5)) {
    throw invalid(member, `must not be one of the last ${rules.passwordReuseDepth}`);
  }
  return md5;
}

function requireCharacterCounts(password: string, rules: ConsoleSecurity, member: string): void {
  const counts = [
    [/\p{Ll}/gu, rules.lowerCaseLetterCount, "lower-case letters"],
    [/\p{Lu}/gu, rules.upperCaseLetterCount, "upper-case letters"],
    [/\p{Nd}/gu, rules.numericCharacterCount, "digits"],
    [/[^\p{L}\p{Nd}]/gu, rules.specialCharacterCount, "other characters"],
  ] as const;
  for (const [kind, least, what] of counts) {
    if ((password.match(kind)?.length ?? 0) < least) throw invalid(member, `must have at least ${least} ${what}`);
  }
}
