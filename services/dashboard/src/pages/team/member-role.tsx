import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { ROLE_LABELS, type Role } from '../../session/roles.ts'
import { useScope } from '../../session/scope.ts'
import type { RemovedMember } from './former-keys.tsx'

const ROLES = Object.entries(ROLE_LABELS).map(([value, label]) => ({ value, label }))

interface MemberRoleProps {
  readonly member: { readonly userId: string; readonly name: string; readonly role: Role }
  /** Why this person may not change it; null when they may. */
  readonly refusal: string | null
  /** Called with the API keys that the person created and that are still active. */
  readonly onRemoved: (removed: RemovedMember) => void
}

/** A member's role, with the actions of an owner. */
export function MemberRole({ member: { userId, name, role }, refusal, onRemoved }: MemberRoleProps) {
  const scope = useScope()
  const [isOpen, setOpen] = useState(false)
  const [to, setTo] = useState<Role>(role)
  const refresh = [trpc.members.pathFilter(), { queryKey: SESSION_KEY }]
  const change = useAction({
    call: (ids, input: { from: Role; to: Role }) => api.members.setRole.mutate({ ...scope, ...ids, userId, ...input }),
    done: 'Role changed. It takes effect immediately.',
    onDone: () => setOpen(false),
    refresh,
  })
  const remove = useAction({
    call: (ids, input: { from: Role }) => api.members.remove.mutate({ ...scope, ...ids, userId, ...input }),
    done: 'Member removed. They no longer have access to this workspace.',
    onDone: ({ keys }) => {
      setOpen(false)
      onRemoved({ name, keys })
    },
    refresh,
  })
  if (refusal !== null) return <>{ROLE_LABELS[role]}</>
  return (
    <span className="pm-row pm-end">
      {ROLE_LABELS[role]}
      <Button size="xs" variant="default" onClick={() => setOpen(true)} aria-label={`Change role of ${name}`}>
        Change
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Change role">
        <ActionForm
          action={change}
          onSubmit={() => void change.run({ from: role, to })}
          submit="Change role"
          disabled={to === role}
        >
          <p>
            <UntrustedText>{name}</UntrustedText> is {ROLE_LABELS[role].toLowerCase()} now.
          </p>
          <NativeSelect
            label="Role"
            data={ROLES}
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value as Role)}
          />
        </ActionForm>
        {/* Outside the form: a dialog's own form would submit this one as well. */}
        <ActionButton
          action={remove}
          input={{ from: role }}
          variant="default"
          color="red"
          reason="optional"
          confirm={<p>They lose access to this workspace. Their account remains.</p>}
        >
          Remove from the workspace
        </ActionButton>
      </Modal>
    </span>
  )
}
