# What zsh shows when a person types $2 and presses Tab, with the completion of the file $1: a shell at a terminal of its own.
zmodload zsh/zpty
export ZDOTDIR=$3 COMPLETION=$1 TERM=dumb COLUMNS=200 LINES=200
print -r -- "PROMPT='READY%% '
unsetopt zle_bracketed_paste
autoload -Uz compinit; compinit -u -D
source \$COMPLETION
setopt no_beep auto_list no_auto_menu
zstyle ':completion:*' verbose no" > $ZDOTDIR/.zshrc
zpty terminal zsh -d -i
zpty -r terminal shown '*READY% '
zpty -w -n terminal "$2"$'\t'
zpty -w -n terminal $'\x05 # ENDS'
zpty -r terminal shown '*# ENDS*'
print -r -- $shown
