import type { Operation } from "@/lib/http/operation.ts";
import {
  newPasswordQuery,
  passwordQuery,
  resetPasswordsQuery,
  updatePassword,
  userAccount,
  userAccountCreate,
  userAccountUpdate,
} from "@/lib/mapi/records/accounts.ts";
import { usernameList } from "@/lib/mapi/records/lists.ts";
import { PASSWORD_CHANGED, PASSWORDS_RESET, USER_CREATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { permissionOperations } from "./permissions.ts";
import { recordKind } from "./record_kind.ts";

const USERS = recordKind({
  tag: "Tenant Admin: Identity",
  nouns: ["user account", "user accounts"],
  path: "/tenants/{tenant_name}/userAccounts",
  parameter: "username",
  label: "user",
});

/** Is called when an account was disabled or deleted: its sessions end. */
export type AccountEnded = (account: { readonly tenant: string; readonly user: string }) => void;

/** User accounts of a tenant. */
export function userAccountOperations(operations: MapiOperations, accountEnded: AccountEnded): Operation[] {
  const { read, write, exists } = operations;
  const { path, tag, resource } = USERS.list;
  const ended = ({ tenant_name: tenant, username: user }: Readonly<Record<string, string>>) =>
    accountEnded({ tenant, user });
  return [
    read({ ...USERS.list, schema: usernameList }),
    write({
      ...USERS.create,
      audit: "account_create",
      query: newPasswordQuery,
      body: userAccountCreate,
      ...USER_CREATED,
    }),
    write({
      id: "reset_passwords",
      method: "POST",
      path,
      tag,
      summary: "Give every local account with the role SECURITY one new password",
      resource,
      query: resetPasswordsQuery,
      // The store takes a POST only with a body, be it an empty one.
      emptyBody: true,
      audit: "password_change",
      ...PASSWORDS_RESET,
    }),
    read({ ...USERS.get, schema: userAccount }),
    exists(USERS.head),
    write({
      ...USERS.update,
      query: passwordQuery,
      forward: ({ password }) => ({ password: password || undefined }),
      body: userAccountUpdate,
      audit: "account_change",
      auditOf: ({ password }) => password ? "password_change" : "account_change",
      done: (names, { enabled }) => {
        if (enabled === false) ended(names);
      },
    }),
    write({ ...USERS.delete, audit: "account_delete", done: ended }),
    write({
      id: "change_password",
      method: "POST",
      ...USERS.record,
      path: `${USERS.record.path}/changePassword`,
      summary: "Change a password",
      description: "One's own with the old one; administrators need none.",
      body: updatePassword,
      audit: "password_change",
      ...PASSWORD_CHANGED,
    }),
    ...permissionOperations(operations, "user", USERS.record),
  ];
}
