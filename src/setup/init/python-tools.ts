// The tools of Python projects that gates are proposed for.

export const TOOLS = ['pytest', 'ruff', 'black', 'isort', 'mypy', 'flake8', 'pyright'] as const
export type Tool = (typeof TOOLS)[number]
