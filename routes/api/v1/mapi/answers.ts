import { z } from "zod";

type Names = Readonly<Record<string, string>>;

/** The responses to changes, schema and value: the store sends no body, so these are ours. */
export const UPDATED = {
  schema: z.object({ status: z.literal("updated") }).meta({ id: "Updated" }),
  answer: () => ({ status: "updated" as const }),
};

export const DELETED = {
  schema: z.object({ status: z.literal("deleted") }).meta({ id: "Deleted" }),
  answer: () => ({ status: "deleted" as const }),
};

export const CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), name: z.string() }).meta({ id: "Created" }),
  answer: (_: Names, { name }: { name: string }) => ({ status: "created" as const, name }),
} as const;

export const USER_CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), username: z.string() }).meta({ id: "UserCreated" }),
  answer: (_: Names, { username }: { username: string }) => ({ status: "created" as const, username }),
} as const;

export const GROUP_CREATED = {
  status: 201,
  schema: z.object({ status: z.literal("created"), groupname: z.string().nullable() })
    .meta({ id: "GroupCreated", description: "`groupname` is null for a group that is named by its SID" }),
  answer: (_: Names, { groupname }: { groupname?: string | null }) => ({
    status: "created" as const,
    groupname: groupname ?? null,
  }),
} as const;

export const TENANT_CORS_SET = {
  status: 201,
  schema: z.object({ status: z.literal("created"), tenant: z.string() }).meta({ id: "TenantCorsSet" }),
  answer: ({ tenant_name }: Names) => ({ status: "created" as const, tenant: tenant_name }),
} as const;

export const NAMESPACE_CORS_SET = {
  status: 201,
  schema: z.object({ status: z.literal("created"), namespace: z.string() }).meta({ id: "NamespaceCorsSet" }),
  answer: ({ ns }: Names) => ({ status: "created" as const, namespace: ns }),
} as const;

export const PASSWORD_CHANGED = {
  schema: z.object({ status: z.literal("password_changed") }).meta({ id: "PasswordChanged" }),
  answer: () => ({ status: "password_changed" as const }),
};

export const PASSWORDS_RESET = {
  schema: z.object({ status: z.literal("passwords_reset") }).meta({ id: "PasswordsReset" }),
  answer: () => ({ status: "passwords_reset" as const }),
};
