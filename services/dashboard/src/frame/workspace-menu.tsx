import { Menu } from '@mantine/core'
import { IconCheck, IconChevronDown } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { ForeignText } from '../parts/foreign-text.tsx'
import { placePath } from '../session/scope.ts'
import { useSession } from '../session/session.ts'
import { Logo } from './logo.tsx'
import type { NavigationTarget } from './target.ts'

/** Names the workspace and leads to the others of this person, in the same mode. */
export function WorkspaceMenu({ target }: { readonly target: NavigationTarget | null }) {
  const { workspaces } = useSession()
  const navigate = useNavigate()
  const name = target?.workspaceName ?? 'Paymesh'
  return (
    <Menu position="bottom-start" width={240} withinPortal>
      <Menu.Target>
        <button type="button" className="pm-workspace" aria-label={`Workspace ${name}. Change`}>
          <Logo />
          <span>
            <b>
              <ForeignText>{name}</ForeignText>
            </b>
            <small>Paymesh</small>
          </span>
          <IconChevronDown size={16} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {workspaces.map(({ id, name: other }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate(placePath(id, target?.mode ?? 'live', 'overview'))}
            rightSection={id === target?.workspaceId ? <IconCheck size={14} aria-hidden /> : null}
          >
            <ForeignText>{other}</ForeignText>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
