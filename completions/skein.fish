# Fish quotes what it puts in.
function __skein_words
    set -l token (commandline -ct)
    set -l words (commandline -opc)
    for line in (command skein completion words (count $words) -- $words "$token" </dev/null 2>/dev/null)
        set -l parts (string split \t -- $line)
        if test -n "$parts[1]"
            printf '%s\n' $line
            continue
        end
        set -l path (string sub -s (math 1 + (string length -- "$parts[3]")) -- "$token")
        set -l paths (__fish_complete_path "$path")
        if test "$parts[2]" = folders
            set paths (__fish_complete_directories "$path" '')
        end
        for one in $paths
            printf '%s%s\n' "$parts[3]" $one
        end
    end
end
complete -c skein -f -a '(__skein_words)'
