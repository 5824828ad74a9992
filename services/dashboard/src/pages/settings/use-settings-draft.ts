import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { useDeed } from '../../parts/action/use-deed.ts'
import { useMay, useScope } from '../../session/scope.ts'

export type Settings = Awaited<ReturnType<typeof api.workspace.get.query>>
export type SettingsChange = Parameters<typeof api.workspace.update.mutate>[0]['change']

/**
 * What a person has typed and not saved, over the settings it was begun with. When somebody else saves meanwhile, the first save is
 * refused and says who; `now` gives the value as it is there, to be shown beside the typed one. The next save is made knowingly.
 */
export function useSettingsDraft(settings: Settings) {
  const scope = useScope()
  const [base, setBase] = useState<Settings | null>(null)
  const [draft, setDraft] = useState<Partial<Record<string, string>>>({})
  const save = useDeed({
    call: (ids, change: SettingsChange) =>
      api.workspace.update.mutate({ ...scope, ...ids, version: (base ?? settings).version, change }),
    done: 'Saved. It counts for invoices from now on.',
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
    refusal: useMay('admin') ? null : 'This needs the role admin.',
    isDirty: Object.keys(draft).length > 0,
    busy: save.busy,
    failure: save.failure,
    value: (name: string, stored: string) => draft[name] ?? stored,
    type: (name: string, text: string) => {
      setBase(seen)
      setDraft((before) => ({ ...before, [name]: text }))
    },
    /** Whether this field was typed into while its stored value became another one. */
    changedElsewhere: (name: string, read: (from: Settings) => string) =>
      isStale && draft[name] !== undefined && read(seen) !== read(settings) ? read(settings) : null,
    drop: () => {
      setBase(null)
      setDraft({})
      save.clear()
    },
    run: async (change: SettingsChange) => {
      const refused = (await save.run(change)) === null
      // What was shown beside the typed values is known now.
      if (refused) setBase(null)
    },
    draft,
  }
}
