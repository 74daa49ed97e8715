import { mustChangePassword, rolesOf, type User } from "@/embedded/store/accounts.ts";
import type { Change } from "@/embedded/store/changes.ts";
import { consoleSecurity } from "@/embedded/store/console_security.ts";
import { has, isAdministrator, isPassword, requireRight } from "./mapi_caller.ts";
import { forbidden, invalid, MapiError } from "./mapi_error.ts";
import { type MapiRequest, permittedUser, type TenantRequest } from "./mapi_request.ts";
import { newPasswordMd5, passwordMd5 } from "./passwords.ts";

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
    const records = [user, ...store.groups.ofUser(user.id)].map(({ record }) => record);
    if (records.some(isAdministrator)) {
      throw new MapiError(403, "Only an ADMINISTRATOR may set the password of an account that has this role");
    }
  }
  const former = [user.passwordMd5, ...store.accounts.formerPasswords(user.id)];
  return newPasswordMd5(
    password,
    consoleSecurity(store.documents, user.tenant),
    { username: user.name, former, publicPasswords: store.publicPasswords },
    member,
  );
}
