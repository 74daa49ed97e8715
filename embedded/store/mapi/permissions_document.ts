import { z } from "zod";
import { MASK_FLAGS, MASK_NAMES } from "@/embedded/store/permission_masks.ts";
import { boolean, each, members, rule } from "./body_schema.ts";
import type { SettingsDocument } from "./settings_document.ts";

/** What a tenant or a namespace allows at all, in either form of the document. */
export const permissionsDocument: SettingsDocument = {
  kind: "permissions",
  schema: members({
    permission: z.custom<string[]>(isMask, rule(`may hold only ${MASK_NAMES.join(", ")}`))
      .transform((names) => [...new Set(names)]),
    ...each(Object.keys(MASK_FLAGS), boolean),
  }),
  defaults: { permission: MASK_NAMES },
  read: "read",
  write: "administer",
};

function isMask(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => MASK_NAMES.includes(name));
}
