import { Button, Tooltip } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { Card } from '../../parts/card.tsx'
import type { useSettingsDraft } from './use-settings-draft.ts'

interface SettingsFormProps {
  readonly title: string
  readonly draft: ReturnType<typeof useSettingsDraft>
  /** Null while something typed cannot be understood. */
  readonly onSave: (() => void) | null
  readonly children: ReactNode
}

/** A card of settings with its save button; whoever may not change them sees why. */
export function SettingsForm({ title, draft, onSave, children }: SettingsFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSave?.()
  }
  const save = (
    <Button type="submit" loading={draft.busy} disabled={!draft.isDirty || onSave === null || draft.refusal !== null}>
      Save
    </Button>
  )
  return (
    <Card title={title}>
      <form className="pm-stack" onSubmit={submit}>
        {children}
        <DeedFailure failure={draft.failure} />
        <div className="pm-row">
          {draft.refusal === null ? (
            save
          ) : (
            <Tooltip label={draft.refusal}>
              <span>{save}</span>
            </Tooltip>
          )}
          {draft.isDirty ? (
            <Button variant="default" onClick={draft.drop}>
              Drop what I typed
            </Button>
          ) : null}
        </div>
      </form>
    </Card>
  )
}

/** Said below a field that somebody else changed while this person was typing. */
export function ChangedElsewhere({ now }: { readonly now: string | null }) {
  return now === null ? null : (
    <p className="pm-small" role="status">
      Changed elsewhere meanwhile: now <b>{now === '' ? 'empty' : now}</b>. Save again to put yours in its place.
    </p>
  )
}
