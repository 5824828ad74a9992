import { Button, Modal, Select } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton, DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { ROLE_WORDS, type Role } from '../../session/roles.ts'
import { useScope } from '../../session/scope.ts'
import type { RemovedMember } from './former-keys.tsx'

const ROLES = Object.entries(ROLE_WORDS).map(([value, label]) => ({ value, label }))

interface MemberRoleProps {
  readonly member: { readonly userId: string; readonly name: string; readonly role: Role }
  /** Why this person may not change it; null when they may. */
  readonly refusal: string | null
  /** With the API keys that the person created and that still work. */
  readonly onRemoved: (removed: RemovedMember) => void
}

/** A member's role, with what an owner can do about it. */
export function MemberRole({ member: { userId, name, role }, refusal, onRemoved }: MemberRoleProps) {
  const scope = useScope()
  const [isOpen, setOpen] = useState(false)
  const [to, setTo] = useState<Role>(role)
  const refresh = [trpc.members.pathFilter(), { queryKey: SESSION_KEY }]
  const change = useDeed({
    call: (ids, input: { from: Role; to: Role }) => api.members.setRole.mutate({ ...scope, ...ids, userId, ...input }),
    done: 'Changed. It counts at once.',
    onDone: () => setOpen(false),
    refresh,
  })
  const remove = useDeed({
    call: (ids, input: { from: Role }) => api.members.remove.mutate({ ...scope, ...ids, userId, ...input }),
    done: 'Removed. They see nothing of this workspace any more.',
    onDone: ({ keys }) => {
      setOpen(false)
      onRemoved({ name, keys })
    },
    refresh,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void change.run({ from: role, to })
  }
  if (refusal !== null) return <>{ROLE_WORDS[role]}</>
  return (
    <span className="pm-row pm-end">
      {ROLE_WORDS[role]}
      <Button size="xs" variant="default" onClick={() => setOpen(true)} aria-label={`Change the role of ${name}`}>
        Change
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Change a role">
        <form className="pm-stack" onSubmit={submit}>
          <p>
            <ForeignText>{name}</ForeignText> is {ROLE_WORDS[role].toLowerCase()} now.
          </p>
          <Select
            label="Role"
            data={ROLES}
            value={to}
            onChange={(value) => setTo((value ?? role) as Role)}
            allowDeselect={false}
          />
          <DeedFailure failure={change.failure} />
          <div className="pm-row pm-end">
            <Button type="submit" loading={change.busy} disabled={to === role}>
              Change the role
            </Button>
          </div>
        </form>
        {/* Outside of the form: a question's own form would send this one as well. */}
        <DeedButton
          deed={remove}
          input={{ from: role }}
          variant="default"
          color="red"
          reason="optional"
          confirm={<p>They see nothing of this workspace from then on. Their log-in stays.</p>}
        >
          Remove from the workspace
        </DeedButton>
      </Modal>
    </span>
  )
}
