import { type FunctionComponent, h, type JSX } from "preact";

/** Data that can be sent to the browser as JSON. */
type AsJson<T> = T extends string | number | boolean | null | undefined ? T
  : T extends (...args: never[]) => unknown ? never
  : { readonly [K in keyof T]: AsJson<T[K]> };

/** A component that the server renders and the browser hydrates. */
interface Island<Props> {
  (props: Props): JSX.Element;
  /** The component that the browser hydrates with the props in the page. */
  readonly Component: FunctionComponent<Props>;
}

/**
 * Makes an island of a component. Its props cross as JSON, so they are plain data.
 *
 * @param name the name of its file in `islands/`, by which the browser finds its code
 */
export function island<Props extends object>(
  name: string,
  Component: FunctionComponent<Props> & (Props extends AsJson<Props> ? unknown : never),
): Island<Props> {
  const Outer = (props: Props) => (
    <div data-island={name} data-props={JSON.stringify(props)}>
      {h<Props>(Component, props)}
    </div>
  );
  return Object.assign(Outer, { Component });
}
