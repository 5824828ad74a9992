import type { Mode } from '#shared/domain/enumerations.ts'

/** How many exceptions wait for a decision, for the number in the navigation. 0 while it is not known. */
export function useOpenExceptions(_target: { readonly workspaceId: string; readonly mode: Mode }): number {
  return 0
}
