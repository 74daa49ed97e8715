import { z } from "zod";
import {
  DESCRIPTION,
  given,
  GROUPNAME,
  isText,
  PASSWORD,
  PASSWORD_RULES,
  printable,
  returned,
  username,
  wrappedList,
} from "./fields.ts";

/** Roles of tenant-level accounts (spec, Roles), and two that the store knows beside them. */
const TENANT_ROLES = ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"] as const;
const role = z.enum([...TENANT_ROLES, "SERVICE", "SEARCH"]);

const roles = wrappedList("role", role.meta({ enum: TENANT_ROLES })).nullish().meta({
  id: "Roles",
  description: "Replaces all roles",
  examples: [{ role: ["MONITOR"] }],
});

const fullName = z.string().min(1).max(64).meta({ ...printable(64) });

export const userAccount = z.looseObject({
  username: returned.text("The user's name"),
  fullName: returned.text("The user's full name"),
  description: returned.text("Purpose of the account"),
  localAuthentication: returned.flag("Whether the store itself checks the password"),
  enabled: returned.flag("Whether the account may log in"),
  forcePasswordChange: returned.flag("Whether the password must be changed at the next login"),
  roles: returned.open("`{role: […]}`"),
  allowNamespaceManagement: returned.flag("Whether the user may create and manage namespaces"),
  userGUID: returned.text("The canonical user id of access lists"),
  userID: returned.whole("Numeric id in the store"),
}).meta({ id: "UserAccount" });

/** Body of a user account's creation (spec, UserAccountCreate); members beyond these are dropped. */
export const userAccountCreate = z.object({
  username: username.meta({ description: "Unique", examples: ["lena"] }),
  fullName: fullName.meta({ examples: ["Lena Grön"] }),
  localAuthentication: z.boolean(),
  enabled: z.boolean(),
  forcePasswordChange: z.boolean(),
  description: given.text("Purpose of the account", DESCRIPTION),
  roles,
  allowNamespaceManagement: given.flag("Whether the user may create and manage namespaces"),
}).meta({
  id: "UserAccountCreate",
  examples: [{
    username: "lena",
    fullName: "Lena Grön",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: ["MONITOR"] },
  }],
});

export const userAccountUpdate = z.object({
  fullName: fullName.nullish(),
  description: given.text("Purpose of the account", DESCRIPTION),
  enabled: given.flag("Whether the account may log in"),
  forcePasswordChange: given.flag("Whether the password must be changed at the next login"),
  roles,
  allowNamespaceManagement: given.flag("Whether the user may create and manage namespaces"),
}).meta({ id: "UserAccountUpdate", examples: [{ fullName: "Lena Grön", roles: { role: ["MONITOR"] } }] });

const password = z.string().min(1).meta({ ...PASSWORD, examples: ["gryning-47"] });

/** The query of a user account's creation. */
export const newPasswordQuery = z.object({
  password: password.meta({ description: `The initial password: ${PASSWORD_RULES}` }),
});

/** The query of a user account's change. */
export const passwordQuery = z.object({
  password: z.string().meta({ anyOf: [{ maxLength: 0 }, { ...PASSWORD }] }).optional().meta({
    description: `New password; empty leaves it unchanged. Rules: ${PASSWORD_RULES}`,
  }),
});

export const resetPasswordsQuery = z.object({
  resetPasswords: password.meta({
    description: `The new password of every local account with SECURITY: ${PASSWORD_RULES}`,
  }),
});

/** Body of changePassword (spec, UpdatePasswordRequest). */
export const updatePassword = z.object({
  newPassword: password.meta({ description: `Rules: ${PASSWORD_RULES}` }),
  oldPassword: z.string().nullish().meta({ description: "Required unless the caller is an administrator" }),
}).meta({ id: "UpdatePasswordRequest" });

export const groupAccount = z.looseObject({
  groupname: returned.text("The group's name"),
  externalGroupID: returned.text("SID in the directory"),
  roles: returned.open("`{role: […]}`"),
  allowNamespaceManagement: returned.flag("Whether its members may create and manage namespaces"),
}).meta({ id: "GroupAccount" });

/** Open: a store without a directory takes the members of a group in its record. */
export const groupAccountCreate = z.looseObject({
  groupname: given.text("`name` or `name@domain`; this or the SID is required", GROUPNAME),
  externalGroupID: given.text("The group's SID in the directory", printable(184, 1)),
  roles,
}).meta({
  id: "GroupAccountCreate",
  anyOf: [isText("groupname"), isText("externalGroupID")],
  examples: [{ groupname: "editors", roles: { role: ["MONITOR"] } }],
});

export const groupAccountUpdate = z.looseObject({
  roles,
  allowNamespaceManagement: given.flag("Whether its members may create and manage namespaces"),
}).meta({ id: "GroupAccountUpdate", examples: [{ roles: { role: ["MONITOR"] } }] });

/** Permissions of an account in a namespace. */
export const DATA_PERMISSIONS = [
  "BROWSE",
  "READ",
  "WRITE",
  "DELETE",
  "PURGE",
  "SEARCH",
  "PRIVILEGED",
  "READ_ACL",
  "WRITE_ACL",
  "CHOWN",
] as const;

const permission = z.enum(DATA_PERMISSIONS);

/** Most namespaces in one change of permissions: the store's own bound on namespaces. */
const MAX_NAMESPACES = 10_000;

export const dataAccessPermissions = z.looseObject({
  namespacePermission: z.array(z.looseObject({
    namespaceName: returned.text("The namespace's name"),
    permissions: returned.open("`{permission: […]}`"),
  })).nullable().default(null),
}).meta({ id: "DataAccessPermissions" });

export const dataAccessPermissionsUpdate = z.looseObject({
  namespacePermission: z.array(z.looseObject({
    namespaceName: z.string().min(1),
    permissions: wrappedList("permission", permission),
  })).max(MAX_NAMESPACES),
}).meta({
  id: "DataAccessPermissionsUpdate",
  description: "Replaces the permissions in the given namespaces; an empty list removes all",
  examples: [{ namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["BROWSE", "READ"] } }] }],
});
