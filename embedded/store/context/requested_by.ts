import type { ChangeOrigin } from "@/embedded/store/reported_change.ts";
import { REQUEST_MARK_HEADER } from "@/lib/std/request_mark.ts";
import type { StoreContext } from "./store_context.ts";

/** The client's end of a request: what a valid mark of the gateway says, else what the connection says. */
export function clientOf(
  { marks }: Pick<StoreContext, "marks">,
  headers: Headers,
  connection: { readonly address: string; readonly requestId: string | null },
): Pick<ChangeOrigin, "address" | "requestId" | "isByGateway"> {
  const mark = marks?.read(headers.get(REQUEST_MARK_HEADER)) ?? null;
  return mark
    ? { address: mark.address, requestId: mark.id, isByGateway: true }
    : { ...connection, isByGateway: false };
}

/** The same store, whose changes are recorded as those of an account; an anonymous one has no name. */
export function requestedBy(
  store: StoreContext,
  user: { readonly name: string; readonly tenant: number } | null,
  client: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">,
): StoreContext {
  const origin = { actor: user?.name ?? null, isSystem: user?.tenant === 0, ...client };
  return { ...store, writer: store.writer.by(origin) };
}
