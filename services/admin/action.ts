/** The actor and reason of a request, in the form that use cases take. */
export function actionOf(
  { actor }: { readonly actor: string },
  { opId, reason }: { readonly opId: string; readonly reason?: string | undefined },
): { readonly opId: string; readonly actor: string; readonly reason: string | null } {
  return { opId, actor, reason: reason === undefined || reason === '' ? null : reason }
}
