import { z } from "zod";

type Names = Readonly<Record<string, string>>;

/** The responses to changes, schema and value: the store sends no body, so these are ours. */
function statusAlone<const S extends string>(status: S, id: string) {
  return { schema: z.object({ status: z.literal(status) }).meta({ id }), result: () => ({ status }) };
}

export const UPDATED = statusAlone("updated", "Updated");
export const DELETED = statusAlone("deleted", "Deleted");

export const CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), name: z.string() }).meta({ id: "Created" }),
  result: (_: Names, { name }: { name: string }) => ({ status: "created" as const, name }),
} as const;

export const USER_CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), username: z.string() }).meta({ id: "UserCreated" }),
  result: (_: Names, { username }: { username: string }) => ({ status: "created" as const, username }),
} as const;

export const GROUP_CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), groupname: z.string().nullable() })
    .meta({ id: "GroupCreated", description: "`groupname` is null for a group that is named by its SID" }),
  result: (_: Names, { groupname }: { groupname?: string | null }) => ({
    status: "created" as const,
    groupname: groupname ?? null,
  }),
} as const;

export const TENANT_CORS_SET = {
  status: 201,
  schema: z.object({ status: z.literal("created"), tenant: z.string() }).meta({ id: "TenantCorsSet" }),
  result: ({ tenant_name }: Names) => ({ status: "created" as const, tenant: tenant_name }),
} as const;

export const NAMESPACE_CORS_SET = {
  status: 201,
  schema: z.object({ status: z.literal("created"), namespace: z.string() }).meta({ id: "NamespaceCorsSet" }),
  result: ({ ns }: Names) => ({ status: "created" as const, namespace: ns }),
} as const;

export const PASSWORD_CHANGED = statusAlone("password_changed", "PasswordChanged");
export const PASSWORDS_RESET = statusAlone("passwords_reset", "PasswordsReset");
