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
import { listQuery, storeListQuery, usernameList, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { DELETED, PASSWORD_CHANGED, PASSWORDS_RESET, UPDATED, USER_CREATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { permissionOperations } from "./permissions.ts";

const TAG = "Tenant Admin: Identity";
const LIST = "/tenants/{tenant_name}/userAccounts";
const ONE = `${LIST}/{username}`;

/** User accounts of a tenant. */
export function userAccountOperations(operations: MapiOperations): Operation[] {
  const { read, write, exists } = operations;
  const resource = ({ username }: Readonly<Record<string, string>>) => `user '${username}'`;
  return [
    read({
      id: "list_user_accounts",
      path: LIST,
      tag: TAG,
      summary: "List user accounts",
      resource: () => "user accounts",
      query: listQuery,
      forward: storeListQuery,
      isList: true,
      schema: usernameList,
    }),
    write({
      id: "create_user_account",
      method: "PUT",
      path: LIST,
      tag: TAG,
      summary: "Create a user account",
      resource: () => "user account",
      query: newPasswordQuery,
      body: userAccountCreate,
      ...USER_CREATED,
    }),
    write({
      id: "reset_passwords",
      method: "POST",
      path: LIST,
      tag: TAG,
      summary: "Give every local account with the role SECURITY one new password",
      resource: () => "user accounts",
      query: resetPasswordsQuery,
      // The store takes a POST only with a body, be it an empty one.
      emptyBody: true,
      audit: "password change",
      ...PASSWORDS_RESET,
    }),
    read({
      id: "get_user_account",
      path: ONE,
      tag: TAG,
      summary: "A user account",
      resource,
      query: verboseQuery,
      schema: userAccount,
    }),
    exists({ id: "head_user_account", path: ONE, tag: TAG, summary: "Whether a user account exists", resource }),
    write({
      id: "update_user_account",
      method: "POST",
      path: ONE,
      tag: TAG,
      summary: "Change a user account",
      resource,
      query: passwordQuery,
      forward: ({ password }) => ({ password: password || undefined }),
      body: userAccountUpdate,
      audit: ({ password }) => password ? "password change" : undefined,
      ...UPDATED,
    }),
    write({
      id: "delete_user_account",
      method: "DELETE",
      path: ONE,
      tag: TAG,
      summary: "Delete a user account",
      resource,
      ...DELETED,
    }),
    write({
      id: "change_password",
      method: "POST",
      path: `${ONE}/changePassword`,
      tag: TAG,
      summary: "Change a password",
      description: "One's own with the old one; administrators need none.",
      resource,
      body: updatePassword,
      audit: "password change",
      ...PASSWORD_CHANGED,
    }),
    ...permissionOperations(operations, { of: "user", path: ONE, tag: TAG, resource }),
  ];
}
