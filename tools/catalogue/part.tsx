import type { ComponentChildren } from "preact";

interface PartProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** Components of one kind. Headings of the catalogue are English, whatever the language of the components. */
export function Part({ title, children }: PartProps) {
  return (
    <section>
      <h2 lang="en">{title}</h2>
      {children}
    </section>
  );
}

/** One state of a component. */
export function State({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="state">
      <p class="note" lang="en">{name}</p>
      {children}
    </div>
  );
}
