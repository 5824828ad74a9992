import type { ReactNode } from 'react'
import { ActionForm } from '../../parts/action/action-form.tsx'
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
  const { isDirty, refusal, drop } = draft
  return (
    <Card title={title}>
      <ActionForm
        action={draft}
        onSubmit={() => onSave?.()}
        submit="Save"
        disabled={!isDirty || onSave === null || refusal !== null}
        around={(button) =>
          refusal === null ? (
            button
          ) : (
            <Hint label={refusal}>
              <span>{button}</span>
            </Hint>
          )
        }
        buttons="start"
        {...(isDirty && { onCancel: drop, cancel: 'Discard my changes' })}
      >
        {children}
      </ActionForm>
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
