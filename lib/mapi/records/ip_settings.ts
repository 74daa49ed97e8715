import { z } from "zod";
import { MAX_LISTED, type Member } from "./fields.ts";
import { ADDRESSES, MAX_ADDRESSES } from "./store_rules.ts";

const addresses = z.array(z.string().meta({ ...ADDRESSES })).max(MAX_LISTED).meta({ maxItems: MAX_ADDRESSES });
const eitherForm = z.union([addresses, z.looseObject({ ipAddress: addresses })]).nullish();

/** Address rules as clients may write them: lists, or lists in the store's wrapping. */
const givenIpSettings = z.object({
  allowAddresses: eitherForm,
  denyAddresses: eitherForm,
  allowIfInBothLists: z.boolean().nullish(),
}).meta({
  id: "IpSettings",
  description: "Addresses, masks or CIDR blocks; the store's own wrapping (`{ipAddress: […]}`) is read too",
  examples: [{ allowAddresses: [], denyAddresses: [], allowIfInBothLists: true }],
});

/** `ipSettings` of a body, in the store's wrapping. */
const given = givenIpSettings.transform(({ allowAddresses, denyAddresses, ...rest }) => ({
  allowAddresses: wrapped(allowAddresses),
  denyAddresses: wrapped(denyAddresses),
  ...rest,
})).nullish();

/** `ipSettings` of a response: flat lists, whichever way the store wraps them. */
const returned = givenIpSettings.transform((
  { allowAddresses, denyAddresses, allowIfInBothLists },
) => ({
  allowAddresses: flat(allowAddresses),
  denyAddresses: flat(denyAddresses),
  allowIfInBothLists: allowIfInBothLists ?? null,
})).nullable().default(null);

/** The member `ipSettings` of settings documents. */
export const ipSettings: Member = { returned, given };

type EitherForm = z.output<typeof eitherForm>;

function wrapped(list: EitherForm): { ipAddress: string[] } | undefined {
  return list ? { ipAddress: flat(list) } : undefined;
}

function flat(list: EitherForm): string[] {
  return Array.isArray(list) ? list : list?.ipAddress ?? [];
}
