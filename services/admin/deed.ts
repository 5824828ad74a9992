/** Who does what is asked, under which name, and why: as use cases take it. */
export function deedOf(
  { actor }: { readonly actor: string },
  { opId, reason }: { readonly opId: string; readonly reason?: string | undefined },
): { readonly opId: string; readonly actor: string; readonly reason: string | null } {
  return { opId, actor, reason: reason === undefined || reason === '' ? null : reason }
}
