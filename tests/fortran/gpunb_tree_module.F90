! The module gpunb from a program's side: softened forces by a tree on every backend that has one, against direct sums;
! the types of the module have the size and the fields of the structs of C (layout.c), and its constants their values.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../gpunb/fortran/gpunb.f90"

program gpunb_tree_module
    use, intrinsic :: iso_c_binding
    use gpunb
    implicit none
    integer, parameter :: n = 2000
    real(c_double), parameter :: softening = 0.05d0, aim = 1d-3
    integer :: done = 0, failed = 0
    real(c_double) :: mass(n), x_first(3, n)
    real(c_double), target :: x(3, n)

    interface
        integer(c_size_t) function layout_of_error(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        integer(c_size_t) function layout_of_options(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        integer(c_size_t) function layout_of_backend_info(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        integer(c_size_t) function layout_of_softened_job(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        integer(c_size_t) function layout_of_stats(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        integer(c_size_t) function layout_of_tree_counts(layout) bind(c)
            import :: c_size_t
            integer(c_size_t), intent(inout) :: layout(*)
        end function
        subroutine constants_of_gpunb(values) bind(c)
            import :: c_int
            integer(c_int), intent(inout) :: values(*)
        end subroutine
    end interface

    call layouts_of_arguments()
    call layouts_of_results()
    call constants()
    call stages()
    call place_bodies()
    call all_backends()
    call direct_where_cheaper()
    call refusals()
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    subroutine layouts_of_arguments()
        type(nbc_error), target :: e
        type(gpunb_options), target :: o
        type(gpunb_softened_job), target :: j
        integer(c_size_t) :: c(16)
        type(c_ptr) :: p
        p = c_loc(e)
        call check(layout_of_error(c) == 3, 'fields of nbc_error')
        call check(all([c_sizeof(e), at(p, c_loc(e%status)), at(p, c_loc(e%text))] == c(:3)), 'layout of nbc_error')
        p = c_loc(o)
        call check(layout_of_options(c) == 11, 'fields of gpunb_options')
        call check(all([c_sizeof(o), at(p, c_loc(o%backend)), at(p, c_loc(o%mass_weighted)), at(p, c_loc(o%precision)), &
            at(p, c_loc(o%force_error)), at(p, c_loc(o%theta)), at(p, c_loc(o%order)), at(p, c_loc(o%leaf)), &
            at(p, c_loc(o%group)), at(p, c_loc(o%walk)), at(p, c_loc(o%costs))] == c(:11)), 'layout of gpunb_options')
        p = c_loc(j)
        call check(layout_of_softened_job(c) == 8, 'fields of gpunb_softened_job')
        call check(all([c_sizeof(j), at(p, c_loc(j%n_i)), at(p, c_loc(j%x)), at(p, c_loc(j%self)), &
            at(p, c_loc(j%softening)), at(p, c_loc(j%acc_last)), at(p, c_loc(j%acc)), at(p, c_loc(j%pot))] == c(:8)), &
            'layout of gpunb_softened_job')
    end subroutine

    subroutine layouts_of_results()
        type(gpunb_backend_info), target :: b
        type(gpunb_stats), target :: s
        type(gpunb_tree_counts), target :: t
        integer(c_size_t) :: c(16)
        type(c_ptr) :: p
        p = c_loc(b)
        call check(layout_of_backend_info(c) == 6, 'fields of gpunb_backend_info')
        call check(all([c_sizeof(b), at(p, c_loc(b%name)), at(p, c_loc(b%description)), at(p, c_loc(b%available)), &
            at(p, c_loc(b%reason)), at(p, c_loc(b%ns_per_pair))] == c(:6)), 'layout of gpunb_backend_info')
        p = c_loc(s)
        call check(layout_of_stats(c) == 9, 'fields of gpunb_stats')
        call check(all([c_sizeof(s), at(p, c_loc(s%calls)), at(p, c_loc(s%targets)), at(p, c_loc(s%interactions)), &
            at(p, c_loc(s%seconds_send)), at(p, c_loc(s%seconds_regf)), at(p, c_loc(s%seconds_potential)), &
            at(p, c_loc(s%bytes_sent)), at(p, c_loc(s%bytes_received))] == c(:9)), 'layout of gpunb_stats')
        p = c_loc(t)
        call check(layout_of_tree_counts(c) == 14, 'fields of gpunb_tree_counts')
        call check(all([c_sizeof(t), at(p, c_loc(t%builds)), at(p, c_loc(t%renewals)), at(p, c_loc(t%forces)), &
            at(p, c_loc(t%targets)), at(p, c_loc(t%groups)), at(p, c_loc(t%tests)), at(p, c_loc(t%listed_cells)), &
            at(p, c_loc(t%listed_bodies)), at(p, c_loc(t%cell_terms)), at(p, c_loc(t%pair_terms)), at(p, c_loc(t%local_terms)), &
            at(p, c_loc(t%first_forces)), at(p, c_loc(t%seconds))] == c(:14)), 'layout of gpunb_tree_counts')
    end subroutine

    !> Bytes from the begin of a variable to one of its components.
    integer(c_size_t) function at(whole, component)
        type(c_ptr), intent(in) :: whole, component
        at = int(transfer(component, 0_c_intptr_t) - transfer(whole, 0_c_intptr_t), c_size_t)
    end function

    subroutine constants()
        integer(c_int), parameter :: own(22) = [NBC_OK, NBC_NB_OVERFLOW, NBC_BAD_ARGUMENT, NBC_NO_MEMORY, NBC_NON_FINITE, &
            NBC_BAD_STATE, NBC_DEVICE, NBC_UNAVAILABLE, GPUNB_PRECISION_DEFAULT, GPUNB_FLOAT, GPUNB_TWOFLOAT, &
            GPUNB_DOUBLE, GPUNB_WALK_DEFAULT, GPUNB_WALK_GROUPS, GPUNB_WALK_SINGLE, GPUNB_WALK_ONE_BY_ONE_I, &
            GPUNB_WALK_ONE_BY_ONE_J, GPUNB_WALK_HYBRID, GPUNB_WALK_FMM, GPUNB_MOST_ORDER, GPUNB_DEFAULT_ORDER, GPUNB_TREE_STAGES]
        integer(c_int) :: c(22)
        c = -1
        call constants_of_gpunb(c)
        call check(all(own == c), 'constants')
    end subroutine

    subroutine stages()
        character(8), parameter :: names(0:GPUNB_TREE_STAGES - 1) = [character(8) :: 'key', 'sort', 'link', 'moments', &
            'lists', 'cells', 'pairs']
        integer(c_int) :: k
        do k = 0, GPUNB_TREE_STAGES - 1
            call check(string_of(gpunb_tree_stage_name(k)) == trim(names(k)), 'stage '//names(k))
        end do
        call check(trim(names(GPUNB_TREE_KEY))//trim(names(GPUNB_TREE_MOMENTS))//trim(names(GPUNB_TREE_PAIRS)) == &
            'keymomentspairs', 'numbers of stages')
        call check(.not. c_associated(gpunb_tree_stage_name(GPUNB_TREE_STAGES)), 'no stage after the last one')
    end subroutine

    !> A ball whose density falls as r^-2, of unequal masses, from a generator of Park & Miller 1988.
    subroutine place_bodies()
        integer(c_int64_t) :: state
        real(c_double) :: u(4), r, phi
        integer :: i, k
        state = 4711
        do i = 1, n
            do k = 1, 4
                state = mod(48271*state, 2147483647_c_int64_t)
                u(k) = real(state, c_double)/2147483647d0
            end do
            r = sqrt(1 - (2*u(2) - 1)**2)
            phi = 8*atan(1d0)*u(3)
            x_first(:, i) = 2*u(1)*[r*cos(phi), r*sin(phi), 2*u(2) - 1]
            mass(i) = (0.5d0 + u(4))/n
        end do
    end subroutine

    subroutine all_backends()
        type(gpunb_backend_info), pointer :: info
        type(gpunb_options) :: options
        type(nbc_error) :: err
        type(c_ptr) :: place, handle
        integer :: found
        integer(c_int) :: k
        found = 0
        do k = 0, 99
            place = gpunb_backend(k)
            if (.not. c_associated(place)) exit
            call c_f_pointer(place, info)
            if (info%available == 0) cycle
            options = gpunb_options(backend=info%name)
            if (gpunb_create(handle, int(n, c_size_t), options, err) /= NBC_OK) cycle
            if (gpunb_tree_least_error(handle) > 0) then
                found = found + 1
                call tree_on_backend(info%name, GPUNB_WALK_GROUPS)
                call tree_on_backend(info%name, GPUNB_WALK_SINGLE)
            end if
            call gpunb_free(handle)
        end do
        call check(found > 1, 'backends that have a tree') ! `ref` and `portable` are on every machine
    end subroutine

    !> Forces of a tree that is built once, renewed after all bodies have moved, and of gpunb_softened.
    subroutine tree_on_backend(name, walk)
        type(c_ptr), intent(in) :: name
        integer(c_int), intent(in) :: walk
        real(c_double), target :: acc(3, n), pot(n), acc_last(3, n)
        integer(c_int32_t), target :: self(n)
        type(gpunb_softened_job) :: job
        type(c_ptr) :: handle, tree
        integer :: i
        self = [(int(i - 1, c_int32_t), i=1, n)]
        x = x_first
        tree = c_null_ptr
        handle = opened(name, walk)
        call check(gpunb_tree_build(handle, tree) == NBC_BAD_STATE, string_of(name)//': no tree without sources')
        call check(gpunb_send_positions(handle, int(n, c_size_t), mass, x) == NBC_OK, 'positions')
        call check(gpunb_tree_build(handle, tree) == NBC_OK, 'build')
        call check_shape(tree)
        job = gpunb_softened_job(n_i=n, x=c_loc(x), self=c_loc(self), softening=softening, acc=c_loc(acc), pot=c_loc(pot))
        call check(gpunb_tree_force(handle, tree, job) == NBC_OK, 'force after one by angle')
        call check_errors(acc, pot)
        acc_last = acc
        acc = 0
        job%acc_last = c_loc(acc_last)
        call check(gpunb_tree_force(handle, tree, job) == NBC_OK, 'force with the last accelerations')
        call check_errors(acc, pot)
        x(1, :) = x(1, :) + 0.25d0*x(2, :)
        call check(gpunb_send_positions(handle, int(n, c_size_t), mass, x) == NBC_OK, 'bodies have moved')
        call check(gpunb_tree_force(handle, tree, job) == NBC_BAD_STATE, 'the tree is of other positions')
        call check(index(string_of(gpunb_last_error(handle)), 'gpunb_tree_renew') > 0, 'the message says what to do')
        call check(gpunb_tree_renew(handle, tree) == NBC_OK, 'renew')
        call check(gpunb_tree_force(handle, tree, job) == NBC_OK, 'force of the renewed tree')
        call check_errors(acc, pot)
        call gpunb_tree_free(tree)
        job%acc_last = job%acc
        call check(gpunb_softened(handle, job) == NBC_OK, 'softened force, acc_last in its own place')
        call check_errors(acc, pot)
        call check_counts(handle, walk)
        call gpunb_free(handle)
    end subroutine

    function opened(name, walk) result(handle)
        type(c_ptr), intent(in) :: name
        integer(c_int), intent(in) :: walk
        type(c_ptr) :: handle
        type(gpunb_options) :: options
        type(nbc_error) :: err
        options = gpunb_options(backend=name, force_error=aim, order=4, leaf=8, group=32, walk=walk)
        call check(gpunb_create(handle, int(n, c_size_t), options, err) == NBC_OK, string_of(name)//': create')
    end function

    subroutine check_shape(tree)
        type(c_ptr), intent(in) :: tree
        integer(c_size_t) :: cells, largest_leaf, bytes
        integer(c_int) :: depth
        call gpunb_tree_shape(tree, cells, depth, largest_leaf, bytes)
        call check(largest_leaf >= 2 .and. largest_leaf <= 8, 'bodies of the largest leaf')
        ! At least n/8 leaves; a body at most in one cell of each level; 100 bytes of a cell are its box and centre.
        call check(cells > n/8 .and. cells <= n*int(depth, c_size_t) .and. depth > 3, 'cells and levels')
        call check(bytes > 100*cells, 'bytes')
    end subroutine

    !> Of sums in double: 99 of 100 accelerations are within the aim. Potentials, whose own aim is a tenth of it, all are;
    !> with the term of the body itself, mass/softening = 0.01, none would be.
    subroutine check_errors(acc, pot)
        real(c_double), intent(in) :: acc(3, n), pot(n)
        real(c_double) :: d(3, n), w(n), sum_acc(3), sum_pot
        integer :: i, k, beyond(2)
        beyond = 0
        do i = 1, n
            do k = 1, 3
                d(k, :) = x(k, :) - x(k, i)
            end do
            w = 1/sqrt(d(1, :)**2 + d(2, :)**2 + d(3, :)**2 + softening**2)
            sum_pot = -sum(mass*w) + mass(i)*w(i)
            sum_acc = [(sum(mass*w**3*d(k, :)), k=1, 3)]
            if (norm2(acc(:, i) - sum_acc) > aim*norm2(sum_acc)) beyond(1) = beyond(1) + 1
            if (abs(pot(i) - sum_pot) > aim*abs(sum_pot)) beyond(2) = beyond(2) + 1
        end do
        call check(beyond(1) <= n/100, 'accelerations within the aim')
        call check(beyond(2) == 0, 'potentials within the aim')
    end subroutine

    !> Three forces of one tree, one of gpunb_softened with its own, and the first of them by angle beforehand.
    subroutine check_counts(handle, walk)
        type(c_ptr), intent(in) :: handle
        integer(c_int), intent(in) :: walk
        type(gpunb_tree_counts) :: c
        call gpunb_tree_get_counts(handle, c)
        call check(c%builds == 2 .and. c%renewals == 1 .and. c%forces == 4 .and. c%first_forces == 1, 'trees and forces')
        call check(c%targets == 5*n, 'targets')
        if (walk == GPUNB_WALK_SINGLE) then
            call check(c%groups == c%targets, 'a list for each target')
        else
            ! Of 32 targets, but a cell that does not fit begins a new group.
            call check(c%groups >= c%targets/32 .and. c%groups < c%targets/4, 'a list for each group')
        end if
        call check(c%tests >= c%listed_cells .and. c%listed_cells > 0 .and. c%listed_bodies > 0, 'lists')
        call check(c%cell_terms >= c%listed_cells .and. c%pair_terms >= c%listed_bodies, 'terms')
        call check(all(c%seconds >= 0) .and. sum(c%seconds) > 0, 'seconds')
    end subroutine

    !> Few targets have direct sums; a handle that was opened with a walk has its tree for them too.
    subroutine direct_where_cheaper()
        character(len=4, kind=c_char), target :: name = 'ref'//c_null_char
        integer(c_size_t), parameter :: many = 10_c_size_t**7
        type(gpunb_options) :: options
        type(nbc_error) :: err
        type(c_ptr) :: handle
        real(c_double) :: direct, by_tree
        options = gpunb_options(backend=c_loc(name), force_error=aim)
        call check(gpunb_create(handle, 1_c_size_t, options, err) == NBC_OK, 'a tree where it is cheaper')
        direct = gpunb_softened_pairs(handle, many, many, by_tree)
        call check(abs(direct/1d14 - 1) < 1d-15 .and. by_tree > 1d7 .and. by_tree < direct, 'it is for many targets')
        call check(gpunb_tree_is_worth(handle, many, many) /= 0, 'which it says')
        direct = gpunb_softened_pairs(handle, 2_c_size_t, many, by_tree)
        call check(abs(direct/2d7 - 1) < 1d-15 .and. by_tree > direct, 'and not for few')
        call check(gpunb_tree_is_worth(handle, 2_c_size_t, many) == 0, 'which it says')
        call gpunb_free(handle)
        handle = opened(c_loc(name), GPUNB_WALK_GROUPS)
        call check(gpunb_tree_is_worth(handle, 2_c_size_t, many) /= 0, 'a tree in any case')
        call gpunb_free(handle)
    end subroutine

    subroutine refusals()
        character(len=4, kind=c_char), target :: name = 'ref'//c_null_char
        type(gpunb_options) :: options
        type(nbc_error) :: err
        type(c_ptr) :: handle, tree
        tree = c_null_ptr
        options = gpunb_options(backend=c_loc(name), force_error=1d-3, theta=0.5d0)
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_BAD_ARGUMENT, 'an aim and an angle')
        call check(index(error_text(err), 'force_error = 0.001 and theta = 0.5') > 0, 'both are named')
        options = gpunb_options(backend=c_loc(name), theta=0.5d0, order=GPUNB_MOST_ORDER + 1)
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_BAD_ARGUMENT, 'an order too high')
        call check(index(error_text(err), 'order = 9') > 0, 'it is named')
        options = gpunb_options(backend=c_loc(name), theta=0.5d0, walk=GPUNB_WALK_FMM + 1)
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_BAD_ARGUMENT, 'no such walk')
        options = gpunb_options(backend=c_loc(name))
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_OK, 'direct sums')
        call check(gpunb_tree_build(handle, tree) == NBC_BAD_STATE .and. .not. c_associated(tree), 'have no tree')
        call gpunb_free(handle)
    end subroutine

    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine
end program gpunb_tree_module
