import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { Card } from '../../parts/card.tsx'
import { Hint } from '../../parts/hint.tsx'
import type { useSettingsDraft } from './use-settings-draft.ts'

interface SettingsFormProps {
  readonly title: string
  readonly draft: ReturnType<typeof useSettingsDraft>
  /** Null while some entered text is invalid. */
  readonly onSave: (() => void) | null
  readonly children: ReactNode
}

/** A card of settings with its save button; members without the right to change them see why. */
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
        <ActionFailure failure={draft.failure} />
        <div className="pm-row">
          {draft.refusal === null ? (
            save
          ) : (
            <Hint label={draft.refusal}>
              <span>{save}</span>
            </Hint>
          )}
          {draft.isDirty ? (
            <Button variant="default" onClick={draft.drop}>
              Discard my changes
            </Button>
          ) : null}
        </div>
      </form>
    </Card>
  )
}

/** Shown below a field that another person changed while this person was editing. */
export function ChangedElsewhere({ now }: { readonly now: string | null }) {
  return now === null ? null : (
    <p className="pm-small" role="status">
      Someone else changed this to <b>{now === '' ? 'empty' : now}</b>. Save again to overwrite.
    </p>
  )
}
