/** The part of the Trusted Types interface that is used here (https://w3c.github.io/trusted-types/dist/spec/). */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): object
}

/**
 * Creates the policy that browsers apply before a string becomes markup of this page. Text without `<` passes: the component library
 * sets its style sheets that way, and it cannot create an element. Everything else is refused, including strings that would become
 * scripts. Call it once, before anything is rendered. Browsers without Trusted Types apply no policy.
 */
export function allowTextOnly(): void {
  const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', { createHTML: (text) => (text.includes('<') ? null : text) })
}
