import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { useAction } from '../../parts/action/use-action.ts'
import { useRefusal, useScope } from '../../session/scope.ts'

export type Settings = Awaited<ReturnType<typeof api.workspace.get.query>>
export type SettingsChange = Parameters<typeof api.workspace.update.mutate>[0]['change']

/**
 * Unsaved edits of a person on top of the settings they started from. When another person saves meanwhile, the first save is
 * refused and names that person; `now` returns the current value, to be shown next to the edited one. The next save then overwrites it deliberately.
 */
export function useSettingsDraft(settings: Settings) {
  const scope = useScope()
  const [base, setBase] = useState<Settings | null>(null)
  const [draft, setDraft] = useState<Partial<Record<string, string>>>({})
  const save = useAction({
    call: (ids, change: SettingsChange) =>
      api.workspace.update.mutate({ ...scope, ...ids, version: (base ?? settings).version, change }),
    done: 'Saved. Applies to new invoices.',
    onDone: () => {
      setBase(null)
      setDraft({})
    },
    refresh: [trpc.workspace.pathFilter(), trpc.auth.me.pathFilter()],
  })
  const seen = base ?? settings
  const isStale = seen.version !== settings.version
  return {
    /** Why this person may not change anything; null when they may. */
    refusal: useRefusal('admin', 'restricted'),
    isDirty: Object.keys(draft).length > 0,
    busy: save.busy,
    failure: save.failure,
    value: (name: string, stored: string) => draft[name] ?? stored,
    type: (name: string, text: string) => {
      setBase(seen)
      setDraft((before) => ({ ...before, [name]: text }))
    },
    /** Whether this field was edited while its stored value changed. */
    changedElsewhere: (name: string, read: (from: Settings) => string) =>
      isStale && draft[name] !== undefined && read(seen) !== read(settings) ? read(settings) : null,
    drop: () => {
      setBase(null)
      setDraft({})
      save.clear()
    },
    run: async (change: SettingsChange) => {
      const refused = (await save.run(change)) === null
      // The values shown next to the edits are known now.
      if (refused) setBase(null)
    },
    draft,
  }
}
