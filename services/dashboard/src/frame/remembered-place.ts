import type { Mode } from '#shared/domain/enumerations.ts'

interface LastPlace {
  readonly workspaceId: string
  readonly mode: Mode
}

const NAME = 'paymesh.place'

/** Stores in this browser where a person was, for the front page and for pages without a workspace. */
export function rememberPlace({ workspaceId, mode }: LastPlace): void {
  localStorage.setItem(NAME, `${workspaceId}/${mode}`)
}

/** Where this browser was last; null without a stored place. It may name a workspace that the person has left. */
export function rememberedPlace(): LastPlace | null {
  const [workspaceId, mode] = (localStorage.getItem(NAME) ?? '').split('/')
  if (workspaceId === undefined || (mode !== 'live' && mode !== 'test')) return null
  return { workspaceId, mode }
}
