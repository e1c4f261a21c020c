/* The arguments of main, and the pointers to the environment right after the pointers to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv, char **envp)
{
    int known = 0;
    for (char **e = envp; *e != NULL; e++) {
        const char *value = strchr(*e, '=');
        char name[64] = "";
        if (value != NULL && value - *e < (long)sizeof name) {
            memcpy(name, *e, (size_t)(value - *e));
            known += getenv(name) != NULL && strcmp(getenv(name), value + 1) == 0;
        }
    }
    for (int i = 1; i < argc; i++)
        printf("%s\n", argv[i]);
    printf("%d %d %d %d\n", argc, argv[argc] == NULL, envp == argv + argc + 1, known > 0);
    argv[1][0] = 'X'; /* they may be changed */
    printf("%s %s\n", argv[1], strrchr(argv[0], '/') != NULL ? "named" : "");
    return 0;
}
