/** The part of the Trusted Types interface that is used here (https://w3c.github.io/trusted-types/dist/spec/). */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): object
}

/**
 * Makes the policy that browsers ask before a string becomes markup of this page. Text without `<` passes: the component library
 * sets its style sheets that way, and no element can come of it. Everything else is refused, as are strings that would become
 * scripts. Call it once, before anything is drawn. Browsers without Trusted Types ask nobody.
 */
export function allowTextOnly(): void {
  const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', { createHTML: (text) => (text.includes('<') ? null : text) })
}
