import { Menu } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { UntrustedText } from '../parts/untrusted-text.tsx'
import { placePath } from '../session/scope.ts'
import { useSession } from '../session/session.ts'
import { MENU_PORTAL, type MenuListProps } from './menu-button.tsx'

/** The person's workspaces, which open in the same mode; `workspace-menu.tsx` loads it. */
export function WorkspaceMenuList({ target, isOpen, onClose }: MenuListProps) {
  const { workspaces } = useSession()
  const navigate = useNavigate()
  return (
    <Menu
      opened={isOpen}
      onClose={onClose}
      position="bottom-start"
      width={240}
      portalProps={MENU_PORTAL}
      returnFocus={false}
    >
      <Menu.Target>
        <span className="pm-menu-anchor" aria-hidden>
          Workspaces
        </span>
      </Menu.Target>
      <Menu.Dropdown>
        {workspaces.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate(placePath(id, target?.mode ?? 'live', 'overview'))}
            rightSection={id === target?.workspaceId ? <IconCheck size={14} aria-hidden /> : null}
          >
            <UntrustedText>{name}</UntrustedText>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
